"""Whatever happens to a file on its way, reading it gives text or a refusal, and nothing else."""

from __future__ import annotations

import random
import zipfile

import pytest
from docx.document import Document
from pypdf import PdfWriter

from tests.tools.pipelines.reading.files import changed_pdf, make_docx, make_pdf, make_zip
from tools.pipelines.reading import (
    ZIP,
    UnreadableDocument,
    expand_archive,
    media_type_of,
    read_document,
)


def word(document: Document) -> None:
    document.add_heading("Title", 1)
    document.add_paragraph("Some text", style="List Bullet")
    document.add_table(rows=2, cols=2)


def marked(writer: PdfWriter) -> None:
    writer.add_outline_item("Part", 0)
    writer.compress_identical_objects()
    for page in writer.pages:
        page.compress_content_streams()


FILES = {
    "a.pdf": make_pdf(["One line of text.", "Another."], ["Page two."], title="T"),
    "packed.pdf": changed_pdf(make_pdf(["One line of text."], ["Page two."]), marked),
    "locked.pdf": changed_pdf(make_pdf(["Text."]), lambda writer: writer.encrypt("", "x")),
    "a.docx": make_docx(word),
    "a.zip": make_zip({"a.txt": b"text", "b/c.md": b"# x"}, zipfile.ZIP_STORED),
    "a.html": b"<html><title>T</title><h1>H</h1><table><tr><td>1</td></tr></table><ul><li>x</ul>",
    "a.md": b"---\ntitle: T\n---\n# H\n\n- a\n\n| a |\n|---|\n| b |\n\n```\ncode\n```\n",
    "a.csv": b'a,b\n"1","2"\n3,4\n',
    "a.jsonl": b'{"title": "T", "text": "x", "n": 1}\n{"text": "y"}\n',
    "a.txt": "Títle\n\nText – with “marks”.".encode("utf-16"),
}


@pytest.mark.parametrize("name", FILES)
def test_damaged_file_gives_text_or_a_refusal(name: str) -> None:
    chance = random.Random(name)  # noqa: S311 -- the same damage in every run
    read = 0
    for number in range(60):
        content = damaged(FILES[name], chance) if number else FILES[name]
        try:
            media_type = media_type_of(name, content)
            if media_type == ZIP:
                members = list(expand_archive(name, content, 1 << 20))
                assert all((member.content is None) == bool(member.error) for member in members)
            else:
                assert read_document(name, media_type, content).blocks
            read += 1
        except UnreadableDocument:
            continue
    assert read > 0


def damaged(content: bytes, chance: random.Random) -> bytes:
    """`content` with some bytes changed, some left out, or its end cut off."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 12)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    if chance.random() < 0.3:
        start = chance.randrange(len(changed))
        del changed[start : start + chance.randint(1, 4)]
    if chance.random() < 0.3:
        del changed[chance.randrange(len(changed) // 2, len(changed)) :]
    return bytes(changed)
