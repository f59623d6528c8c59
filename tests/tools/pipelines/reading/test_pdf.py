"""PDF files come out as text with their pages."""

from __future__ import annotations

import pytest
from pypdf import PdfWriter

from tests.tools.pipelines.reading.files import block_with, changed_pdf, make_pdf, read, shown
from tools.pipelines.reading import UnreadableDocument, media_type_of
from tools.pipelines.reading.pdf import MOST_PAGE_BYTES

LETTER = [
    "The harbour master of Orrin Bay keeps a book in which every ship is entered,",
    "with her name, her port and the hour.",
    "",
    "The book of 1911 is lost.",
]


def test_paragraphs_keep_the_page_they_stand_on() -> None:
    found = read("letter.pdf", make_pdf(LETTER, ["On the second page is a list."], title="Letters"))
    assert found.title == "Letters"
    assert [(block.text, block.page) for block in found.blocks] == [
        (f"{LETTER[0]} {LETTER[1]}", 1),
        ("The book of 1911 is lost.", 1),
        ("On the second page is a list.", 2),
    ]
    assert found.metadata["pages"] == 2


def test_words_broken_at_line_ends_are_whole_again() -> None:
    lines = [
        "The light was seen from every part of the har-",
        "bour (on clear nights), Ærø-Sund too.",
    ]
    found = read("a.pdf", make_pdf(lines))
    assert found.blocks[0].text == (
        "The light was seen from every part of the harbour (on clear nights), Ærø-Sund too."
    )


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        ["Annual report of the ferry line", f"What happened in month {n}.", f"Page {n} of 6"]
        for n in range(1, 7)
    ]
    found = read("report.pdf", make_pdf(*pages))
    assert [block.text for block in found.blocks] == [
        f"What happened in month {n}." for n in range(1, 7)
    ]


def test_bookmarks_become_headings() -> None:
    def bookmarks(writer: PdfWriter) -> None:
        chapter = writer.add_outline_item("Storms", 0)
        writer.add_outline_item("The storm of 1911", 1, parent=chapter)

    content = changed_pdf(make_pdf(["First."], ["Second."], ["Third."]), bookmarks)
    found = read("storms.pdf", content)
    assert [block.heading_path for block in found.blocks] == [
        ("Storms",),
        ("Storms", "The storm of 1911"),
        ("Storms", "The storm of 1911"),
    ]


def test_pdf_locked_without_a_password_is_read() -> None:
    locked = changed_pdf(make_pdf(LETTER), lambda writer: writer.encrypt("", "owner"))
    assert block_with(read("a.pdf", locked), "harbour master").page == 1


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_pdf_with_a_password_is_refused(algorithm: str) -> None:
    locked = changed_pdf(
        make_pdf(LETTER), lambda writer: writer.encrypt("secret", algorithm=algorithm)
    )
    with pytest.raises(UnreadableDocument, match="protected by a password"):
        read("a.pdf", locked)


@pytest.mark.parametrize(
    "content",
    [b"%PDF-1.7\n", b"%PDF-1.7\nnothing of a PDF follows", make_pdf(LETTER)[:300]],
    ids=["head only", "junk", "cut off"],
)
def test_damaged_pdf_is_refused_and_never_raises_anything_else(content: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"damaged|no text|no pages"):
        read("a.pdf", content)


def test_pdf_whose_index_is_broken_is_still_read() -> None:
    content = make_pdf(LETTER).replace(b"startxref\n", b"startxref\n9")
    assert any("harbour master" in text for _, text in shown(read("a.pdf", content)))


def test_scanned_pdf_is_told_to_need_recognition() -> None:
    with pytest.raises(UnreadableDocument, match="OCR"):
        read("scan.pdf", make_pdf([], []))


def test_page_that_is_too_complex_is_left_out_and_told() -> None:
    heavy = ["x" * 100] * (MOST_PAGE_BYTES // 100)
    found = read("a.pdf", make_pdf(["Light page."], heavy))
    assert [block.text for block in found.blocks] == ["Light page."]
    assert found.notes == ("Page 2 was left out: it is too complex.",)


def test_page_that_unpacks_to_too_much_is_refused() -> None:
    def pack(writer: PdfWriter) -> None:
        writer.pages[0].compress_content_streams()

    bomb = changed_pdf(make_pdf(["x" * 100] * (MOST_PAGE_BYTES // 100)), pack)
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableDocument, match="Page 1 was left out: it is too complex"):
        read("bomb.pdf", bomb)


def test_pdf_under_another_name_is_a_pdf() -> None:
    assert media_type_of("letter.txt", make_pdf(LETTER), "text/plain") == "application/pdf"
