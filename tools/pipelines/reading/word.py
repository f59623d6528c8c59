"""Word files: headings, lists and tables in the order of the document."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from tools.pipelines.reading.document import (
    BlockKind,
    Collector,
    ReadDocument,
    UnreadableDocument,
)

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

# A tree of XML takes about ten times the memory of its text.
MOST_XML: Final = 32 << 20
MOST_UNPACKED: Final = 200 << 20
MOST_ROWS: Final = 20_000
_HEADING: Final = re.compile(r"heading ?([1-9])", re.I)


def read_docx(content: bytes) -> ReadDocument:
    import docx

    _check(content)
    try:
        return _read(docx.Document(io.BytesIO(content)))
    except _faults() as fault:
        raise UnreadableDocument("The Word file is damaged.") from fault


def _faults() -> tuple[type[Exception], ...]:
    """What python-docx raises for files that break the rules."""
    from docx.opc.exceptions import OpcError

    of_xml = SyntaxError
    of_zip = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
    return (OpcError, of_xml, *of_zip, LookupError, ValueError, TypeError, AttributeError)


def _check(content: bytes) -> None:
    """Look at the sizes before anything is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as fault:
        raise UnreadableDocument("The Word file is damaged.") from fault
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableDocument("The Word file is protected by a password.")
    largest = max((member.file_size for member in members if _is_xml(member.filename)), default=0)
    if largest > MOST_XML or sum(member.file_size for member in members) > MOST_UNPACKED:
        raise UnreadableDocument(
            f"The Word file is too large once unpacked: at most {MOST_XML >> 20} MiB of text "
            f"and {MOST_UNPACKED >> 20} MiB in all."
        )


def _read(document: Document) -> ReadDocument:
    collector = Collector()
    styles = _Styles()
    items: list[str] = []
    title = ""

    def end_list() -> None:
        collector.add(BlockKind.LIST, "\n".join(items))
        items.clear()

    for part in _parts(document):
        if collector.full:
            break
        if hasattr(part, "rows"):
            end_list()
            _add_table(collector, part)
            continue
        style = styles.name_of(part)
        if _is_item(part, style):
            items.append(f"- {part.text.strip()}" if part.text.strip() else "")
            continue
        end_list()
        if style == "title" and not title and collector.empty:
            title = part.text
        else:
            _add_paragraph(collector, part, style)
    end_list()
    return collector.document(title or _property(document, "title"), _metadata(document))


def _is_xml(name: str) -> bool:
    return name.endswith((".xml", ".rels"))


def _parts(document: Document) -> Iterator[Any]:
    yield from document.iter_inner_content()


class _Styles:
    """The names of paragraph styles; each is looked up once, for looking up is slow."""

    def __init__(self) -> None:
        self._names: dict[str | None, str] = {}

    def name_of(self, paragraph: Paragraph) -> str:
        key = paragraph._p.style
        if key not in self._names:
            style = paragraph.style
            self._names[key] = str(style.name or "").casefold() if style is not None else ""
        return self._names[key]


def _is_item(paragraph: Paragraph, style: str) -> bool:
    if style.startswith("list"):
        return True
    properties: Any = paragraph._p.pPr
    numbered = properties is not None and properties.numPr is not None
    return numbered and not _HEADING.match(style)


def _add_paragraph(collector: Collector, paragraph: Paragraph, style: str) -> None:
    heading = _HEADING.match(style)
    if heading:
        collector.heading(int(heading[1]), paragraph.text)
    else:
        collector.add(BlockKind.PARAGRAPH, paragraph.text)


def _add_table(collector: Collector, table: Table) -> None:
    """Rows as they stand in the file: asking for cells one by one takes the square of their number."""
    rows: list[list[str]] = []
    for number, row in enumerate(table._tbl.tr_lst):
        if number >= MOST_ROWS:
            collector.notes.add(f"Only the first {MOST_ROWS:,} rows of a table were read.")
            break
        rows.append([_cell_text(cell) for cell in row.tc_lst])
    collector.table(rows)


def _cell_text(cell: Any) -> str:
    """The text of a cell, with that of tables in it."""
    return "\n".join(paragraph.text for paragraph in cell.iter(f"{{{cell.nsmap['w']}}}p"))


def _property(document: Document, name: str) -> str:
    try:
        value = getattr(document.core_properties, name)
    except (KeyError, ValueError, AttributeError):
        return ""
    return value if isinstance(value, str) else ""


def _metadata(document: Document) -> dict[str, Any]:
    names = ("author", "subject", "keywords", "category", "language")
    return {name: _property(document, name) for name in names}
