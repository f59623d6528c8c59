"""Texts for people and models: titles and descriptions, cut where a sentence ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

LONGEST_DESCRIPTION: Final = 1000
SHORTEST_DESCRIPTION: Final = 10
LONGEST_TITLE: Final = 200
_SENTENCE_END: Final = re.compile(r"[.!?]['\"`)\]*_]*(?=\s|$)|[。！？]|(?=\n\s*\n)")


def shortened(text: str, longest: int) -> str:
    """`text` without blanks around it, cut at the end of a sentence, else at a word."""
    text = text.replace("\r\n", "\n").strip()
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    ends = [found.end() for found in _SENTENCE_END.finditer(head) if found.end() > longest // 3]
    if ends:
        return head[: ends[-1]].rstrip()
    words = head.rsplit(None, 1)
    return f"{words[0] if len(words) == 2 and words[0] else head}…"


def _text(node: Mapping[str, Any], key: str) -> str:
    value = node.get(key)
    return value.strip() if isinstance(value, str) else ""


def describe(node: Mapping[str, Any], key: str) -> str:
    """What an operation does: its summary and its description, else its method and path."""
    summary, description = _text(node, "summary"), _text(node, "description")
    if summary and not description.lower().startswith(summary.rstrip(".").lower()):
        description = f"{summary}\n\n{description}" if description else summary
    if len(description) < SHORTEST_DESCRIPTION:
        description = f"{description} ({key})" if description else f"Sends {key} to the API."
    return shortened(description, LONGEST_DESCRIPTION)


def title(node: Mapping[str, Any], name: str) -> str:
    """A short title: the summary on one line, else the words of the name."""
    summary = " ".join(_text(node, "summary").split()).rstrip(".")
    words = name.replace("_", " ").strip()
    return shortened(summary or words[:1].upper() + words[1:], LONGEST_TITLE)
