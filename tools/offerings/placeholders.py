"""Texts with `{name}` placeholders. `{{` and `}}` stand for the braces themselves.

Values are put in as they are and never read again, so a value that looks like a placeholder
stays what it is. Nothing but names is understood: no attributes, no formats, no code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

IDENTIFIER: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
_PIECE: Final = re.compile(rf"(\{{\{{|\}}\}})|\{{({IDENTIFIER})\}}|([{{}}])")
SHOWN_AROUND: Final = 20


class PlaceholderFault(ValueError):
    """A brace that is neither part of a placeholder nor doubled."""


class TooLong(Exception):
    """The text with its values filled in would be longer than allowed."""


def names_in(text: str) -> tuple[str, ...]:
    """The names of the placeholders in `text`, each once, in order.

    Raises:
        PlaceholderFault: naming the place of a stray brace.
    """
    return tuple(dict.fromkeys(name for _, name in _pieces(text) if name))


def expand(text: str, values: Mapping[str, str], room: int) -> str:
    """`text` with `values` in place of its placeholders; a name without a value becomes nothing.

    Raises:
        TooLong: the result would have more than `room` characters; it is never built.
    """
    parts: list[str] = []
    for literal, name in _pieces(text):
        part = values.get(name, "") if name else literal
        room -= len(part)
        if room < 0:
            raise TooLong
        parts.append(part)
    return "".join(parts)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of literal text and the name of a placeholder, one of them empty."""
    end = 0
    for found in _PIECE.finditer(text):
        yield text[end : found.start()], ""
        doubled, name, stray = found.groups()
        if stray:
            around = text[max(0, found.start() - SHOWN_AROUND) : found.end() + SHOWN_AROUND]
            raise PlaceholderFault(
                f"The brace in {around!r} starts no placeholder such as {{name}}; "
                "write {{ or }} for a brace of the text."
            )
        yield (doubled[0] if doubled else ""), (name or "")
        end = found.end()
    yield text[end:], ""
