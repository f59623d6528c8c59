"""Word files come out in the order of the document, with headings, lists and tables."""

from __future__ import annotations

import io
import zipfile

import pytest
from docx.document import Document

from tests.tools.pipelines.reading.files import block_with, make_docx, make_zip, read, shown
from tools.pipelines.reading import UnreadableDocument, word


def report(document: Document) -> None:
    document.core_properties.author = "Harbour office"
    document.add_heading("Berths of the harbour", 0)
    document.add_paragraph("There are two quays.")
    document.add_heading("North quay", 1)
    document.add_paragraph("Fishing boats", style="List Bullet")
    document.add_paragraph("Ferries", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Berth", "Depth", "N1", "4.5 m"], strict=True):
        cell.text = text
    document.add_heading("At low tide", 2)
    document.add_paragraph("Berth N1 falls dry. 潮 🌊 עברית")


def test_parts_come_in_their_order_under_their_headings() -> None:
    found = read("berths.docx", make_docx(report))
    assert found.title == "Berths of the harbour"
    assert found.metadata["author"] == "Harbour office"
    assert shown(found) == [
        ("paragraph", "There are two quays."),
        ("heading", "North quay"),
        ("list", "- Fishing boats\n- Ferries"),
        ("table", "Berth | Depth\nN1 | 4.5 m"),
        ("heading", "At low tide"),
        ("paragraph", "Berth N1 falls dry. 潮 🌊 עברית"),
    ]
    assert block_with(found, "falls dry").heading_path == ("North quay", "At low tide")


def test_large_table_is_read_to_its_limit_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word, "MOST_ROWS", 3)

    def rows(document: Document) -> None:
        table = document.add_table(rows=5, cols=1)
        for number, cell in enumerate(table._cells):
            cell.text = f"row {number}"

    found = read("rows.docx", make_docx(rows))
    assert found.blocks[0].text == "row 0\nrow 1\nrow 2"
    assert found.notes == ("Only the first 3 rows of a table were read.",)


def test_empty_word_file_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="no text"):
        read("empty.docx", make_docx(lambda document: None))


def without_body(content: bytes, body: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return make_zip({**members, "word/document.xml": body})


@pytest.mark.parametrize("body", [b"", b"<w:document", b"<html/>"], ids=["empty", "cut", "other"])
def test_damaged_word_file_is_refused(body: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"damaged|no text"):
        read("broken.docx", without_body(make_docx(report), body))


def test_word_file_that_unpacks_to_too_much_is_refused_before_it_is_opened() -> None:
    bomb = without_body(make_docx(report), b" " * (word.MOST_XML + 1))
    assert len(bomb) < 200_000
    with pytest.raises(UnreadableDocument, match="too large once unpacked"):
        read("bomb.docx", bomb)


def test_entities_of_a_word_file_are_not_expanded() -> None:
    body = (
        b'<!DOCTYPE d [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        b"<w:body><w:p><w:r><w:t>before &b; after</w:t></w:r></w:p></w:body></w:document>"
    )
    found = read("entities.docx", without_body(make_docx(report), body))
    assert "lol" not in "".join(block.text for block in found.blocks)
