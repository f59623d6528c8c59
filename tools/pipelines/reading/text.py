"""Plain text: paragraphs between empty lines."""

from __future__ import annotations

import re
from typing import Final

from tools.pipelines.reading.document import BlockKind, Collector, ReadDocument, one_line
from tools.pipelines.reading.encodings import decode

LONGEST_TITLE_LINE: Final = 100
_EMPTY_LINES: Final = re.compile(r"\n[^\S\n]*\n\s*")


def read_text(content: bytes) -> ReadDocument:
    collector = Collector()
    title, paragraphs = _title_of(_EMPTY_LINES.split(decode(content).strip()))
    add_paragraphs(collector, paragraphs)
    return collector.document(title)


def add_text(collector: Collector, text: str) -> None:
    add_paragraphs(collector, _EMPTY_LINES.split(text.strip()))


def add_paragraphs(collector: Collector, paragraphs: list[str]) -> None:
    for paragraph in paragraphs:
        if collector.full:
            return
        collector.add(BlockKind.PARAGRAPH, paragraph)


def _title_of(paragraphs: list[str]) -> tuple[str, list[str]]:
    """A short line that stands alone above the rest and is no sentence is the title."""
    first = paragraphs[0].strip()
    if len(paragraphs) < 2 or "\n" in first or not 0 < len(first) <= LONGEST_TITLE_LINE:
        return "", paragraphs
    if first.endswith((".", "!", "?", ":", ";", ",", "。")) or not first[0].isalnum():
        return "", paragraphs
    return one_line(first), paragraphs[1:]
