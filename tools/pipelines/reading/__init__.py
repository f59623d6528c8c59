"""Documents as text with their structure: headings, paragraphs, lists, tables, code, records, pages."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from tools.pipelines.reading.archive import ArchiveMember, expand_archive
from tools.pipelines.reading.document import (
    MOST_CHARACTERS,
    Block,
    BlockKind,
    ReadDocument,
    UnreadableDocument,
)
from tools.pipelines.reading.kinds import (
    CSV,
    DOCX,
    HTML,
    JSONL,
    MARKDOWN,
    PDF,
    SUPPORTED,
    SUPPORTED_TEXT,
    TEXT,
    ZIP,
    media_type_of,
)

__all__ = [
    "CSV",
    "DOCX",
    "HTML",
    "JSONL",
    "MARKDOWN",
    "MOST_CHARACTERS",
    "PDF",
    "READING_REVISION",
    "SUPPORTED",
    "TEXT",
    "ZIP",
    "ArchiveMember",
    "Block",
    "BlockKind",
    "ReadDocument",
    "UnreadableDocument",
    "expand_archive",
    "media_type_of",
    "read_document",
]

# Part of the address of what is made of a document: raise it when readers read differently.
READING_REVISION: Final = 1

_READERS: Final = {
    PDF: ("pdf", "read_pdf"),
    DOCX: ("word", "read_docx"),
    HTML: ("html", "read_html"),
    MARKDOWN: ("markdown", "read_markdown"),
    TEXT: ("text", "read_text"),
    CSV: ("tables", "read_csv"),
    JSONL: ("records", "read_jsonl"),
}


def read_document(name: str, media_type: str, content: bytes) -> ReadDocument:
    """The document in `content`, which is what `media_type_of` said of it.

    `name` is only for messages. A document above the limits is read in part, and `notes` says so.

    Raises:
        UnreadableDocument: it cannot be read; the message is for the operator.
    """
    if not content.strip(b"\0 \t\r\n"):
        raise UnreadableDocument("The file is empty.")
    if media_type == ZIP:
        raise UnreadableDocument(f"{name} is an archive: its members are documents, it is none.")
    if media_type not in _READERS:
        raise UnreadableDocument(
            f"{media_type or 'This'} cannot be read. Documents can be {SUPPORTED_TEXT}."
        )
    module, function = _READERS[media_type]
    # Imported here: the libraries for a format are loaded by who reads one.
    reader: Callable[[bytes], ReadDocument] = getattr(
        import_module(f"{__name__}.{module}"), function
    )
    return reader(content)
