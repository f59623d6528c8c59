"""What strangers said, written so that a terminal shows it and takes no orders from it."""

from __future__ import annotations

import re
from typing import Final

# Control characters but tab and line end: they clear screens, set titles, write clipboards. What turns the
# direction of reading, or ends a line by another name. Halves of pairs of surrogates, which no terminal takes.
_ORDERS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """`text` with every character that would do something written as its number."""
    return _ORDERS.sub(_number, text.replace("\r\n", "\n"))


def _number(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
