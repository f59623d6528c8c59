"""The things that passages name, found by rules: no model, no list of names.

Titles, words in capitals and terms with figures are read as names; phrases and rare words in lower case
stand in for them where prose has no names. All passages together decide what stays: a phrase or a word
that only one passage has connects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.graph.tokens import (
    LONGEST,
    Flags,
    Keys,
    Places,
    Tokens,
    at,
    same_text,
    span_keys,
    word_key,
)
from tools.pipelines.contracts import Passage

Kinds = NDArray[np.int8]
# Kinds of entities, by how much they say: an entity found as several is the highest of them.
WORD, PHRASE, NAME, TITLE = 0, 1, 2, 3
# A rare word: so many letters, in so small a share of the passages.
RARE_LETTERS: Final = 5
RARE_SHARE: Final = 0.004
RARE_LEAST: Final = 4
PHRASE_WORDS: Final = 3
# Small words that stand inside names.
_INNER: Final = np.array(
    [
        word_key(word)
        for word in [
            "of",
            "the",
            "and",
            "de",
            "la",
            "le",
            "du",
            "des",
            "von",
            "van",
            "der",
            "den",
            "di",
            "da",
            "del",
            "for",
            "in",
            "on",
            "at",
            "to",
            "y",
            "al",
        ]
    ],
    np.uint64,
)


@dataclass(frozen=True, slots=True)
class Entities:
    """All entities, in the order of their keys, which ascend.

    `cased` are single words that are only meant where they have a capital, such as the band Brother.
    `names` are as first written.
    """

    keys: Keys
    kinds: Kinds
    cased: Flags
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Mentions:
    """Where entities are named: for each mention its first word, how many words, and the entity."""

    place: Places
    length: Kinds
    entity: Places


def texts_of(passages: Sequence[Passage]) -> list[str]:
    """Two texts per passage: its title and what it says."""
    return [text for passage in passages for text in (passage.title, passage.text)]


def find_entities(texts: Sequence[str], tokens: Tokens) -> Entities:
    """The entities of passages, given as by `texts_of`, and as words."""
    spans, kind = _candidates(tokens)
    keys, first, number = np.unique(spans.key, return_index=True, return_inverse=True)
    kinds = np.zeros(len(keys), np.int8)
    np.maximum.at(kinds, number, kind)
    once = np.unique(number.astype(np.int64) << 32 | tokens.text[spans.place] // 2)
    counts = np.bincount(once >> 32, minlength=len(keys))
    rare = max(RARE_LEAST, RARE_SHARE * len(texts) / 2)
    kept = np.flatnonzero(((counts > 1) | (kinds >= NAME)) & ((counts <= rare) | (kinds > WORD)))
    places, lengths = spans.place[first[kept]], spans.length[first[kept]]
    names = [
        texts[tokens.text[place]][tokens.start[place] : tokens.end[place + length - 1]]
        for place, length in zip(places.tolist(), lengths.tolist(), strict=True)
    ]
    large, _ = _capital_counts(tokens)
    cased = (kinds[kept] >= NAME) & (lengths == 1) & (large[places] > 0)
    return Entities(keys[kept], kinds[kept], cased, names)


def find_mentions(tokens: Tokens, keys: Keys, cased: Flags) -> Mentions:
    """Every mention of the entities with these keys; within a longer name a shorter does not count."""
    covered = np.zeros(len(tokens), bool)
    found = [Mentions(np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.int64))]
    for length in range(LONGEST if len(keys) else 0, 0, -1):
        places, spans = span_keys(tokens, length)
        entity = np.minimum(np.searchsorted(keys, spans), len(keys) - 1)
        hit = keys[entity] == spans
        places, entity = places[hit], entity[hit]
        meant = ~(covered[places] & covered[places + length - 1])
        meant &= ~cased[entity] | tokens.capital[places]
        places, entity = places[meant], entity[meant]
        for step in range(length):
            covered[places + step] = True
        found.append(Mentions(places, np.full(len(places), length, np.int8), entity))
    return Mentions(
        np.concatenate([one.place for one in found]),
        np.concatenate([one.length for one in found]),
        np.concatenate([one.entity for one in found]),
    )


def count_unknown_names(tokens: Tokens, mentions: Mentions) -> int:
    """How many names, by their capitals, these words have that are none of the entities."""
    known = np.zeros(len(tokens), bool)
    for step in range(LONGEST):
        known[mentions.place[mentions.length > step] + step] = True
    new = _names_alone(tokens) & ~known
    follows = tokens.joined & at(new, np.arange(len(tokens)) - 1)
    return int((new & ~follows).sum())


@dataclass(frozen=True, slots=True)
class _Spans:
    """Stretches of words that could name something."""

    place: Places
    length: Kinds
    key: Keys


def _candidates(tokens: Tokens) -> tuple[_Spans, Kinds]:
    """Everything that may be an entity and as what; one stretch may be there as several kinds."""
    large = _names_alone(tokens)
    found = [
        (length, kind, places, keys)
        for length in range(1, LONGEST + 1)
        for kind, places, keys in _of_length(tokens, large, length)
    ]
    spans = _Spans(
        np.concatenate([places for _, _, places, _ in found]),
        np.concatenate([np.full(len(places), length, np.int8) for length, _, places, _ in found]),
        np.concatenate([keys for _, _, _, keys in found]),
    )
    return spans, np.concatenate([np.full(len(keys), kind, np.int8) for _, kind, _, keys in found])


def _of_length(tokens: Tokens, large: Flags, length: int) -> Iterator[tuple[int, Places, Keys]]:
    places, keys = span_keys(tokens, length)
    title = tokens.text[places] % 2 == 0
    capitals = ~title & _capitals(tokens, large, places, length)
    simple = _without_small_words(tokens, large, places, length)
    for kind, fits in (
        (TITLE, title & _whole_title(tokens, places, length)),
        (NAME, capitals & simple),
        # Two names with a small word between them are one only if they are found so again.
        (PHRASE, (capitals & ~simple) | (~title & _quoted(tokens, places, length))),
        (PHRASE if length > 1 else WORD, ~title & _plain(tokens, large, places, length)),
    ):
        yield kind, places[fits], keys[fits]


def _whole_title(tokens: Tokens, places: Places, length: int) -> Flags:
    """What a title, or a heading in it, says before any punctuation, with and without an article."""
    first = ~same_text(tokens, places, places - 1) | tokens.section[places]
    second = ~same_text(tokens, places, places - 2) | at(tokens.section, places - 1)
    second &= at(tokens.stop, places - 1) & tokens.joined[places] & ~tokens.stop[places]
    ended = ~at(tokens.joined, places + length)
    telling = np.ones(len(places), bool) if length > 1 else ~tokens.stop[places]
    return (first | second) & ended & telling


def _capitals(tokens: Tokens, large: Flags, places: Places, length: int) -> Flags:
    """Runs of capitals, and their parts between small words: Lord of the Rings, and Rings."""
    part = large | tokens.number
    within = part | np.isin(tokens.hashes, _INNER)
    lasts = places + length - 1
    fits = large[places] & part[lasts]
    for step in range(1, length - 1):
        fits &= within[places + step]
    before = tokens.joined[places] & at(part, places - 1)
    after = at(tokens.joined & part, lasts + 1)
    return fits & ~before & ~after


def _without_small_words(tokens: Tokens, large: Flags, places: Places, length: int) -> Flags:
    part = large | tokens.number
    simple = np.ones(len(places), bool)
    for step in range(1, length - 1):
        simple &= part[places + step]
    return simple


def _quoted(tokens: Tokens, places: Places, length: int) -> Flags:
    last = places + length - 1
    closed = at(tokens.quote, last + 1) & same_text(tokens, places, last + 1)
    return tokens.quote[places] & closed & ~tokens.stop[last]


def _plain(tokens: Tokens, large: Flags, places: Places, length: int) -> Flags:
    """One to three lower-case words that all count, and single words with figures in them."""
    if length > PHRASE_WORDS:
        return np.zeros(len(places), bool)
    usable = ~(tokens.stop | large | tokens.number)
    if length == 1:
        usable &= tokens.end - tokens.start >= RARE_LETTERS
    usable |= tokens.mixed
    fits = usable[places]
    for step in range(1, length):
        fits &= usable[places + step]
    return fits


def _names_alone(tokens: Tokens) -> Flags:
    """Words whose capital means a name.

    The first word of a sentence, and one that stands alone among small ones, must elsewhere have a
    capital at least as often as not.
    """
    large, small = _capital_counts(tokens)
    here = np.arange(len(tokens))
    accompanied = at(tokens.joined & tokens.capital, here + 1)
    accompanied |= tokens.joined & at(tokens.capital, here - 1)
    doubtful = tokens.opens | ~accompanied
    return tokens.capital & ~tokens.stop & (~doubtful | (large >= small))


def _capital_counts(tokens: Tokens) -> tuple[Places, Places]:
    """For each word how often it has a capital inside sentences, and how often it has none."""
    known, number = np.unique(tokens.hashes, return_inverse=True)
    inside = ~tokens.opens & (tokens.text % 2 == 1)
    large = np.bincount(number[inside & tokens.capital], minlength=len(known))
    small = np.bincount(number[inside & ~tokens.capital], minlength=len(known))
    return large[number], small[number]
