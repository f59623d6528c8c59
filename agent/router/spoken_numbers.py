"""Numbers that are said in words, where they can only be such: `third page`, `five minutes`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ORDINALS: Final = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
COUNTS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNT: Final = "|".join(COUNTS[1:])
_ORDINAL: Final = re.compile(rf"\b({'|'.join(_ORDINALS)})(?= page\b)", re.IGNORECASE)
_COUNTED: Final = re.compile(
    rf"\b({_COUNT})(?= (?:passages?|results?|sources?|steps?|hops?|levels?|at a time|(?:per|a|to a) page)\b)"
    rf"|(?<=\bpage )({_COUNT}|one)\b|(?<=\bpriority )({_COUNT}|one)\b",
    re.IGNORECASE,
)


def spoken_numbers(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """The numbers of a text that are words, where they stand, and whether they put in order."""
    for match in _ORDINAL.finditer(text):
        yield str(_ORDINALS.index(match[1].lower()) + 1), match.start(), match.end(), True
    for match in _COUNTED.finditer(text):
        word = next(group for group in match.groups() if group).lower()
        yield str(COUNTS.index(word) + 1), match.start(), match.end(), False


def counted(word: str | None) -> int:
    """How many a word or a figure says; one where there is none."""
    if not word:
        return 1
    return int(word) if word.isdigit() else COUNTS.index(word.lower()) + 1
