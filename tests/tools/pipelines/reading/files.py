"""Files as people upload them, built in memory."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping

import docx
from docx.document import Document
from pypdf import PdfWriter

from tools.pipelines.reading import Block, ReadDocument, media_type_of, read_document


def read(name: str, content: bytes, declared: str = "") -> ReadDocument:
    """The document the way ingestion reads it."""
    return read_document(name, media_type_of(name, content, declared), content)


def shown(read: ReadDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in read.blocks]


def block_with(read: ReadDocument, words: str) -> Block:
    return next(block for block in read.blocks if words in block.text)


def make_pdf(*pages: list[str], title: str = "") -> bytes:
    """A PDF with these lines of text on its pages; an empty line leaves a gap."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    numbers = []
    for lines in pages:
        stream = _stream(lines)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        numbers.append(len(objects))
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(numbers))
    objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    return _assembled(objects)


def _stream(lines: list[str]) -> bytes:
    parts = [b"BT /F1 11 Tf 72 740 Td 14 TL"]
    for line in lines:
        escaped = line.encode("cp1252").replace(b"\\", rb"\\")
        parts.append(b"(" + escaped.replace(b"(", rb"\(").replace(b")", rb"\)") + b") Tj T*")
        if not line:
            parts.append(b"T*")
    return b"\n".join([*parts, b"ET"])


def _assembled(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(objects),
        start,
    )
    return bytes(out)


def changed_pdf(content: bytes, change: Callable[[PdfWriter], object]) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(content))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def make_docx(write: Callable[[Document], object]) -> bytes:
    document = docx.Document()
    write(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def make_zip(members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()
