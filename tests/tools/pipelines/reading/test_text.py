"""Plain text in the encodings people have."""

from __future__ import annotations

import pytest

from tests.tools.pipelines.reading.files import read, shown
from tools.pipelines.reading import MOST_CHARACTERS, UnreadableDocument

SAMPLE = "Größe – “naïve” café"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_text_is_read_in_its_encoding(encoding: str) -> None:
    assert shown(read("a.txt", SAMPLE.encode(encoding))) == [("paragraph", SAMPLE)]


@pytest.mark.parametrize(
    "text", ["مرحبا بالعالم", "שלום עולם", "日本語のテキスト", "🚢⚓👩‍✈️ ahoy", "नमस्ते दुनिया"]
)
def test_scripts_of_the_world_are_kept(text: str) -> None:
    assert shown(read("a.txt", text.encode())) == [("paragraph", text)]


def test_paragraphs_are_parted_by_empty_lines_of_any_kind() -> None:
    found = read("a.txt", b"First\r\nline.\r\n \t\r\nSecond.\r\rThird.\n")
    assert shown(found) == [
        ("paragraph", "First\nline."),
        ("paragraph", "Second."),
        ("paragraph", "Third."),
    ]


def test_line_that_stands_alone_on_top_is_the_title() -> None:
    found = read("a.txt", b"The storm of 1911\n\nIt came from the west.")
    assert (found.title, shown(found)) == (
        "The storm of 1911",
        [("paragraph", "It came from the west.")],
    )


def test_sentence_on_top_is_no_title() -> None:
    assert read("a.txt", b"It rained.\n\nIt came from the west.").title == ""


def test_characters_that_no_database_keeps_are_taken_out() -> None:
    found = read("a.txt", "one\0two\x07 soft\u00adhyphen e\u0301".encode())
    assert shown(found) == [("paragraph", "onetwo softhyphen é")]


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n ", b"\0\0\0"])
def test_empty_file_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="empty"):
        read("a.txt", content)


def test_text_above_the_limit_is_read_in_part_and_says_so() -> None:
    found = read("a.txt", b"word " * (MOST_CHARACTERS // 5 + 1000))
    assert sum(len(block.text) for block in found.blocks) <= MOST_CHARACTERS
    assert found.notes == (
        "Only the first part was read: a document has at most 5,000,000 characters and 200,000 parts.",
    )
