"""Texts as arrays of words that still know how they were written: in capitals, after what, between what.

Names are read from capitals and punctuation, so this is finer than the words of word search.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.words import STOP_WORDS
from tools.pipelines.chunking import HEADING_MARK

Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]

# The longest name, in words.
LONGEST: Final = 7
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:['’][^\W_]+)*")
# What may stand between two words of one name.
_BETWEEN: Final = frozenset(
    ["", " ", "  ", "\n", "-", " - ", "–", "&", " & ", "_", "/", ".", "'", "\u00a0"]
)
# Ends no sentence when a dot follows it.
_SHORT: Final = frozenset(
    [
        "st",
        "mr",
        "mrs",
        "ms",
        "dr",
        "jr",
        "sr",
        "no",
        "vs",
        "ft",
        "mt",
        "prof",
        "gen",
        "lt",
        "col",
        "rev",
        "capt",
        "sgt",
    ]
)
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_QUOTES: Final = re.compile('["“”«»„`]')
_MARKS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_CAPITAL, _NUMBER, _STOP, _JOINED, _OPENS, _MIXED, _QUOTE, _SECTION = _MARKS
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of many texts, one after the other.

    `text` is the text a word is from, `start` and `end` where in it. `joined` says that a word may
    continue a name of the word before; `opens` that it is the first of a sentence; `quote` that
    a quotation begins or ends before it; `section` that it is the first of a heading below a title.
    """

    hashes: Keys
    text: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    capital: Flags
    number: Flags
    stop: Flags
    joined: Flags
    opens: Flags
    mixed: Flags
    quote: Flags
    section: Flags

    def __len__(self) -> int:
        return len(self.hashes)


def tokenize(texts: Iterable[str]) -> Tokens:
    """The words of these texts."""
    columns: tuple[list[int], ...] = ([], [], [], [])
    keys: list[int] = []
    for number, text in enumerate(texts):
        _read(text, number, keys, columns)
    text_of, start, end, marks = (np.array(column, np.int32) for column in columns)
    flags = [(marks >> bit & 1).astype(bool) for bit in range(len(_MARKS))]
    return Tokens(np.array(keys, np.uint64), text_of, start, end, *flags)


def _read(text: str, number: int, keys: list[int], columns: tuple[list[int], ...]) -> None:
    text_of, starts, ends, marks = columns
    last, before = 0, ""
    for match in _WORD.finditer(text):
        start, end = match.span()
        written = match.group()
        key, known = _word(written)
        if not last:
            known |= _OPENS | (_QUOTE if _QUOTES.search(text[:start]) else 0)
        else:
            known |= _connection(text[last:start], before)
        keys.append(key)
        text_of.append(number)
        starts.append(start)
        ends.append(end)
        marks.append(known)
        last, before = end, written


def _connection(gap: str, before: str) -> int:
    """Whether a word may continue the name before it, and whether it starts a sentence."""
    if gap in _BETWEEN:
        return _JOINED
    if gap == ". " and (len(before) == 1 or before.lower() in _SHORT):
        return _JOINED
    if gap == HEADING_MARK:
        return _SECTION | _OPENS
    quote = _QUOTE if _QUOTES.search(gap) else 0
    if "." in gap or "!" in gap or "?" in gap or ":" in gap or "\n" in gap or ";" in gap:
        return _OPENS | quote
    return quote


@lru_cache(maxsize=200_000)
def _word(written: str) -> tuple[int, int]:
    """The word's hash and what is known about it alone."""
    normal = normalized(written)
    known = _CAPITAL if written[0].isupper() else 0
    known |= _NUMBER if written[0].isdigit() else 0
    known |= _MIXED if not written.isalpha() and not written.isdigit() and _mixed(normal) else 0
    known |= _STOP if normal in STOP_WORDS else 0
    digest = hashlib.blake2b(normal.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little"), known


def word_key(written: str) -> int:
    """The number that stands for a word, however it is written."""
    return _word(written)[0]


def _mixed(word: str) -> bool:
    """Letters and figures in one word, as in names of models and standards."""
    return any(sign.isdigit() for sign in word) and any(sign.isalpha() for sign in word)


def normalized(written: str) -> str:
    """A word without case, accents, possessive and plural."""
    word = written.casefold().replace("’", "'").removesuffix("'s").replace("'", "")
    if not word.isascii():
        word = _ACCENTS.sub("", unicodedata.normalize("NFKD", word))
    if len(word) > 4 and word.endswith("s") and word[-2] not in "sui":
        word = word[:-1]
    return word


def span_keys(tokens: Tokens, length: int) -> tuple[Places, Keys]:
    """Where spans of so many words stand that could be one name, and a key for each.

    Equal spans have equal keys, whatever their case; a span never crosses texts or punctuation.
    """
    count = len(tokens) - length + 1
    if count < 1:
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    whole = np.ones(count, bool)
    keys = np.full(count, length, np.uint64)
    for place in range(length):
        part = slice(place, place + count)
        keys = (keys ^ tokens.hashes[part]) * _MULTIPLIER
        keys ^= keys >> np.uint64(29)
        if place:
            whole &= tokens.joined[part]
    places = np.flatnonzero(whole)
    return places, keys[places]


def at(flags: Flags, places: Places) -> Flags:
    """The flags at these places; there is none outside of the array."""
    if not len(flags):
        return np.zeros(len(places), bool)
    inside = (places >= 0) & (places < len(flags))
    found: Flags = flags[np.clip(places, 0, len(flags) - 1)]
    return found & inside


def same_text(tokens: Tokens, places: Places, others: Places) -> Flags:
    """Whether there is a word at the other place too, and of the same text."""
    inside = (others >= 0) & (others < len(tokens))
    same: Flags = tokens.text[np.clip(others, 0, max(len(tokens) - 1, 0))] == tokens.text[places]
    return same & inside
