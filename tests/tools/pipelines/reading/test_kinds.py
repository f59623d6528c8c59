"""What a file is: by its content first, then by its name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.tools.pipelines.reading.files import make_docx, make_pdf, make_zip
from tools.pipelines.reading import UnreadableDocument, media_type_of, read_document
from tools.pipelines.reading.kinds import CSV, DOCX, HTML, JSONL, MARKDOWN, PDF, TEXT, ZIP

DOCX_FILE = make_docx(lambda document: document.add_paragraph("text"))


@pytest.mark.parametrize(
    ("name", "content", "declared", "expected"),
    [
        ("a.bin", make_pdf(["x"]), "", PDF),
        ("a.zip", DOCX_FILE, "application/zip", DOCX),
        ("a.docx", make_zip({"a.txt": b"x"}), "", ZIP),
        ("a.pdf", b"<!-- saved -->\n<!DOCTYPE HTML><p>Not found", "application/pdf", HTML),
        ("a.txt", b'<?xml version="1.0"?><html xmlns="x"></html>', "", HTML),
        ("A.MD", b"# x", "text/plain", MARKDOWN),
        ("a.csv", b"a,b", "", CSV),
        ("a.tsv", b"a\tb", "", CSV),
        ("a.ndjson", b"{}", "", JSONL),
        ("a.pdf", b"plain words", "", TEXT),
        ("a", b"a,b", "text/csv; charset=utf-8", CSV),
        ("notes.rst", "Über".encode("utf-16"), "", TEXT),
    ],
)
def test_kind_is_told_by_content_before_name(
    name: str, content: bytes, declared: str, expected: str
) -> None:
    assert media_type_of(name, content, declared) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n rest",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 rest",
        b"{\\rtf1 text}",
        bytes(range(256)) * 40,
        make_zip({"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"}),
        make_zip({"mimetype": b"x", "META-INF/manifest.xml": b"<x/>"}),
    ],
    ids=["image", "old office", "rtf", "binary", "spreadsheet", "opendocument"],
)
def test_kinds_that_cannot_be_read_are_refused_with_those_that_can(content: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"PDF, Word \(\.docx\), HTML, Markdown"):
        media_type_of("a.txt", content)


@pytest.mark.parametrize(
    "start", ["<!---->" * 1000, "<?xml?>" * 1000, " " * 8000, "{}" + "\n" * 8000, "<!--" * 2000]
)
def test_beginnings_made_to_be_tried_in_many_ways_are_told_at_once(start: str) -> None:
    assert media_type_of("a", f"{start}text".encode()) == TEXT


def test_damaged_archive_is_refused() -> None:
    with pytest.raises(UnreadableDocument, match="damaged"):
        media_type_of("a.zip", make_zip({"a.txt": b"x"})[:30])


@pytest.mark.parametrize("media_type", ["image/png", "", ZIP])
def test_reading_what_is_no_document_is_refused(media_type: str) -> None:
    with pytest.raises(UnreadableDocument):
        read_document("a", media_type, b"content")


def test_libraries_for_formats_are_not_loaded_before_they_are_needed() -> None:
    program = (
        "import sys; import tools.pipelines.reading, tools.pipelines.chunking;"
        "sys.exit(sorted({'pypdf', 'docx', 'selectolax', 'markdown_it'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
