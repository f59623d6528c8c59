"""Where sentences begin and end, by rules."""

from __future__ import annotations

import re
from typing import Final


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A mark that can end a sentence, with the quotes and brackets that close behind it. Marks of scripts
# that are written without spaces end one wherever they stand. Runs of marks are looked at once, from
# their beginning: a row of a million dots must not take the square of that.
_ENDS: Final = re.compile(
    r"(?<![.!?\u2026\u061f\u06d4])[.!?\u2026\u061f\u06d4]++[\"'\u201d\u2019\u00bb)\]*_]*+(?=\s)"
    r"|[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\u201d\u2019\uff09\"']*+"
    r"|[\u0964\u0965](?=\s)"
    r"|\n[^\S\n]*(?=\n)"
    r"|\n(?=[^\S\n]*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|\(?[a-z][.)])[^\S\n])"
)
_SPACE: Final = re.compile(r"\s*")
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'\u201c\u2018\u00ab]*\Z")
_OPENING: Final = "\"'([\u201c\u2018\u00ab\u201e*_"
_LOOK_BACK: Final = 24
# Never the end of a sentence: something belongs to them.
_TITLES: Final = _words(
    "mr mrs ms dr prof sr jr st rev hon gen col maj capt lt sgt cmdr adm gov pres sen rep e.g "
    "i.e cf viz vs eg ie approx ca al resp dept univ assn bros ave blvd rd mt ft"
)
# The end of one only when no number follows.
_BEFORE_NUMBERS: Final = _words(
    "no nos fig figs eq eqs sec secs ch chap vol vols p pp art para ref refs tab tabs jan feb "
    "mar apr jun jul aug sep sept oct nov dec"
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of `text`, in order, without the white space between them.

    Abbreviations, initials, decimals, numbered items and quoted exclamations do not end a
    sentence; items of lists and paragraphs do.
    """
    spans: list[tuple[int, int]] = []
    start = _after_space(text, 0)
    for found in _ENDS.finditer(text):
        end = found.end()
        if end <= start or (found[0][0] != "\n" and not _ends_sentence(text, start, found)):
            continue
        _take(text, start, end, spans)
        start = _after_space(text, end)
    _take(text, start, len(text), spans)
    return spans


def _take(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append((start, end))


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _ends_sentence(text: str, start: int, found: re.Match[str]) -> bool:
    mark = found[0]
    following = _after_space(text, found.end())
    if following >= len(text) or mark[0] in "\u3002\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4":
        return True
    # A small letter goes on with the sentence: `"Stop!" he said`, `approx. five`.
    after = text[following : following + 2].lstrip(_OPENING)
    if after and after[0].islower():
        return False
    if mark[0] != "." or mark.startswith(".."):
        return True
    return not _is_short_form(text, start, found.start(), after)


def _is_short_form(text: str, start: int, dot: int, after: str) -> bool:
    """Whether the full stop at `dot` belongs to the word before it."""
    found = _LAST_WORD.search(text, max(start, dot - _LOOK_BACK), dot)
    word = found[0] if found else ""
    plain = word.casefold()
    if plain in _TITLES:
        return True
    if plain in _BEFORE_NUMBERS:
        return bool(after) and after[0].isdigit()
    # `3. Then`, where the number opens the item.
    if plain.isdigit() and dot - len(word) == start:
        return len(plain) <= 3
    # Initials, `J. Smith` and `U.S. Navy`; a lone I is a word.
    letters = word.split(".")
    return word != "I" and all(len(letter) == 1 and letter.isupper() for letter in letters)
