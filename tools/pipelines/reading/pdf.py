"""PDF files: text page by page."""

from __future__ import annotations

import io
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from pypdf import PageObject, PasswordType, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from tools.pipelines.reading.document import (
    LONGEST_HEADING,
    BlockKind,
    Collector,
    ReadDocument,
    UnreadableDocument,
    clean,
    one_line,
)

MOST_PAGES: Final = 5_000
MOST_PAGE_BYTES: Final = 4 << 20
MOST_OUTLINE: Final = 2_000
# What pypdf raises, beside its own errors, for files that break the rules.
FAULTS: Final = (
    PyPdfError,
    DependencyError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    ArithmeticError,
    RecursionError,
    LookupError,
    OSError,
)
_LIGATURES: Final = re.compile("[\ufb00-\ufb06]")
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-öø-ÿ])")
_NUMBER: Final = re.compile(r"\d+")
# pypdf tells about every flaw it works around; the operator reads our notes instead.
logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read_pdf(content: bytes) -> ReadDocument:
    reader = _open(content)
    collector = Collector()
    texts = dict(_pages(reader, collector))
    margins = _margins(list(texts.values()))
    headings = _outline(reader)
    path: tuple[str, ...] = ()
    for number, text in texts.items():
        path = headings.get(number, path)
        for paragraph in _paragraphs(text, margins):
            collector.add(BlockKind.PARAGRAPH, paragraph, page=number, path=path)
    if collector.empty:
        why = " ".join(collector.notes.all()[:1])
        raise UnreadableDocument(
            why or "There is no text in this PDF. Scanned pages need text recognition (OCR) first."
        )
    title, metadata = _information(reader)
    return collector.document(title, {**metadata, "pages": len(reader.pages)})


def _open(content: bytes) -> PdfReader:
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
            raise UnreadableDocument("The PDF is protected by a password.")
        if not len(reader.pages):
            raise UnreadableDocument("The PDF has no pages.")
    except FAULTS as fault:
        raise UnreadableDocument("The PDF is damaged.") from fault
    return reader


def _pages(reader: PdfReader, collector: Collector) -> Iterator[tuple[int, str]]:
    """The text of the pages that can be read, by number from 1."""
    if len(reader.pages) > MOST_PAGES:
        collector.notes.add(f"Only the first {MOST_PAGES:,} pages were read.")
    for number in range(1, min(len(reader.pages), MOST_PAGES) + 1):
        try:
            text = _page_text(reader.pages[number - 1])
        except FAULTS:
            collector.notes.add(f"Page {number} could not be read.")
            continue
        if text is None:
            collector.notes.add(f"Page {number} was left out: it is too complex.")
        else:
            yield number, text


def _page_text(page: PageObject) -> str | None:
    contents = page.get_contents()
    if contents is not None and len(contents.get_data()) > MOST_PAGE_BYTES:
        return None
    text = clean(page.extract_text())
    return _LIGATURES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _margins(texts: list[str]) -> frozenset[str]:
    """Lines that stand first or last on most pages, numbers aside: running heads and feet."""
    if len(texts) < 5:
        return frozenset()
    seen: Counter[str] = Counter()
    for text in texts:
        lines = [line for line in text.split("\n") if line.strip()]
        seen.update({_shape(line) for line in (*lines[:1], *lines[-1:])})
    return frozenset(shape for shape, pages in seen.items() if pages > len(texts) * 0.6)


def _shape(line: str) -> str:
    return _NUMBER.sub("0", one_line(line))


def _paragraphs(text: str, margins: frozenset[str]) -> Iterator[str]:
    """Lines put together; a paragraph ends at an empty line, or at a short one that ends a sentence."""
    lines = [line.strip() for line in text.split("\n")]
    filled = [position for position, line in enumerate(lines) if line]
    for position in (*filled[:1], *filled[-1:]):
        if _shape(lines[position]) in margins:
            lines[position] = ""
    widths = sorted(len(line) for line in lines if line)
    wide = widths[len(widths) * 9 // 10] if widths else 0
    gathered: list[str] = []
    for line in lines:
        if line:
            gathered.append(line)
        short = len(line) < wide * 0.8 and line.endswith((".", "!", "?", ":"))
        if gathered and (not line or short):
            yield _joined(gathered)
            gathered = []
    if gathered:
        yield _joined(gathered)


def _joined(lines: list[str]) -> str:
    return _HYPHEN.sub("", "\n".join(lines)).replace("\n", " ")


def _outline(reader: PdfReader) -> dict[int, tuple[str, ...]]:
    """Per page the last bookmark that begins on it, with those above."""
    found: dict[int, tuple[str, ...]] = {}

    def take(entries: list[Any], above: tuple[str, ...]) -> None:
        last = above
        for entry in entries:
            if len(found) >= MOST_OUTLINE:
                return
            if isinstance(entry, list):
                take(entry, last)
                continue
            page = reader.get_destination_page_number(entry)
            last = (*above, one_line(str(entry.title))[:LONGEST_HEADING])
            if page is not None and page >= 0:
                found[page + 1] = last

    try:
        take(list(reader.outline), ())
    except FAULTS:
        return {}
    return found


def _information(reader: PdfReader) -> tuple[str, dict[str, Any]]:
    try:
        told = reader.metadata
        if told is None:
            return "", {}
        return str(told.title or ""), {
            "author": str(told.author or ""),
            "subject": str(told.subject or ""),
        }
    except FAULTS:
        return "", {}
