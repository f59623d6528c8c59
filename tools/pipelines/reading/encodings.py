"""Bytes to text: by their mark, as UTF-8, or as what Windows wrote before."""

from __future__ import annotations

import codecs
import re
from typing import Final

from tools.pipelines.reading.document import clean

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT: Final = 8192
_CONTROL: Final = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})
_CHARSET: Final = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I)


def encoding_of(content: bytes) -> str:
    """The encoding of `content`; cp1252 when nothing else fits."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    wide = _wide_without_mark(content[:_LOOKED_AT])
    if wide:
        return wide
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode(content: bytes, declared: str = "") -> str:
    """`content` as clean text. A declared encoding counts where the bytes are not UTF-8."""
    return clean(decode_as_is(content, declared))


def decode_as_is(content: bytes, declared: str = "") -> str:
    """The same with all of its characters."""
    encoding = encoding_of(content)
    if encoding == "cp1252" and declared:
        encoding = _known(declared) or encoding
    return content.decode(encoding, errors="replace").removeprefix("\ufeff")


def decode_html(content: bytes) -> str:
    """The same for a page, which may name its encoding itself."""
    found = _CHARSET.search(content[:4096])
    return decode(content, found[1].decode("ascii", "replace") if found else "")


def start_of(content: bytes) -> str:
    """The first characters, to look at."""
    encoding = encoding_of(content)
    return content[:_LOOKED_AT].decode(encoding, errors="ignore").removeprefix("\ufeff")


def looks_like_text(content: bytes) -> bool:
    """Whether these bytes are text; a stray NUL does not make them something else."""
    start = content[:_LOOKED_AT]
    if start.startswith(tuple(mark for mark, _ in _MARKS)) or _wide_without_mark(start):
        return True
    return len(start) - len(start.translate(None, _CONTROL)) <= len(start) // 20


def _wide_without_mark(start: bytes) -> str:
    """UTF-16 of mostly Latin text has a NUL in every other byte."""
    half = len(start) // 2
    if half < 4:
        return ""
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if odd > half * 0.6 and even < half * 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.6 and odd < half * 0.1 else ""


def _known(declared: str) -> str:
    try:
        return codecs.lookup(declared).name if codecs.lookup(declared)._is_text_encoding else ""
    except LookupError:
        return ""
