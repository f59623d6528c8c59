"""What kind of document some bytes are: by themselves first, then by their name."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Final

from tools.pipelines.reading.document import UnreadableDocument, has_ending
from tools.pipelines.reading.encodings import looks_like_text, start_of

PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HTML: Final = "text/html"
MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"
CSV: Final = "text/csv"
JSONL: Final = "application/jsonl"
ZIP: Final = "application/zip"
SUPPORTED: Final = (PDF, DOCX, HTML, MARKDOWN, TEXT, CSV, JSONL, ZIP)
SUPPORTED_TEXT: Final = "PDF, Word (.docx), HTML, Markdown, plain text, CSV, JSONL and zip"

_NAMED: Final = {
    HTML: (".html", ".htm", ".xhtml"),
    MARKDOWN: (".md", ".markdown", ".mdown"),
    CSV: (".csv", ".tsv", ".tab"),
    JSONL: (".jsonl", ".ndjson"),
    TEXT: (".txt", ".text", ".log"),
}
_DECLARED: Final = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/csv": CSV,
    "text/tab-separated-values": CSV,
    "application/csv": CSV,
    "application/jsonl": JSONL,
    "application/x-ndjson": JSONL,
    "application/jsonlines": JSONL,
    "text/plain": TEXT,
}
_REFUSED: Final = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file"),
    (b"{\\rtf", "an RTF file"),
    (b"%!PS", "a PostScript file"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"SQLite format 3\0", "a database"),
)
# Each comment is taken once: tried in every grouping, a few dozen would take hours.
_HTML_START: Final = re.compile(
    r"\s*+(?:(?><!--.*?-->|<\?xml[^>]*>)\s*+)*+<(?:!doctype\s+html|html)\b", re.I | re.S
)
_RECORD_START: Final = re.compile(r"\s*+\{.*\}[^\S\n]*\n\s*+\{")


def media_type_of(name: str, content: bytes, declared: str = "") -> str:
    """The media type that `read_document` reads this as; `ZIP` for what `expand_archive` opens.

    Raises:
        UnreadableDocument: it is empty, or of a kind that cannot be read.
    """
    if not content.strip(b"\0 \t\r\n"):
        raise UnreadableDocument("The file is empty.")
    if _is_pdf(name, content[:1024]):
        return PDF
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(content)
    for mark, what in _REFUSED:
        if content.startswith(mark):
            raise _unsupported(f"This is {what}")
    if not looks_like_text(content):
        raise _unsupported("This is no text")
    return _textual(name, start_of(content), declared)


def _zipped(content: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist()[:10_000])
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as fault:
        raise UnreadableDocument("The zip archive or Word file is damaged.") from fault
    if "word/document.xml" in names:
        return DOCX
    if "[Content_Types].xml" in names:
        raise _unsupported("This is an Office file other than a Word document")
    if "mimetype" in names and "META-INF/manifest.xml" in names:
        raise _unsupported("This is an OpenDocument file")
    return ZIP


def _is_pdf(name: str, start: bytes) -> bool:
    """Some writers put lines of their own before the mark; a text may also just mention it."""
    if start.lstrip().startswith(b"%PDF-"):
        return True
    return b"%PDF-" in start and (has_ending(name, ".pdf") or not looks_like_text(start))


def _textual(name: str, start: str, declared: str) -> str:
    if _HTML_START.match(start):
        return HTML
    for media_type, endings in _NAMED.items():
        if has_ending(name, *endings):
            return media_type
    told = _DECLARED.get(declared.partition(";")[0].strip().casefold())
    if told:
        return told
    return JSONL if _RECORD_START.match(start) else TEXT


def _unsupported(what: str) -> UnreadableDocument:
    return UnreadableDocument(f"{what}. Documents can be {SUPPORTED_TEXT}.")
