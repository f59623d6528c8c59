"""Words of a text: where they stand, their stems, and what a misspelt one was meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# Enough for any message; what is longer is a pasted document.
MOST_TOKENS: Final = 1500
LONGEST_WORD: Final = 80
SHORTEST_GUESSED: Final = 3
_WORD: Final = re.compile(r"[^\W_]+(?:['’\-.][^\W_]+)*|#(?=\d)")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_KEPT: Final = frozenset(
    {"status", "this", "news", "address", "access", "process", "species", "analysis"}
)
_NO_PLURAL: Final = ("ss", "us", "is", "as")


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


STOP_WORDS: Final = word_set(
    "a an the my your our their his her its me you us them it i we he she they this that "
    "these those of in on at to for from by with without and or but if then than so as is are "
    "was were be been being am do does did doing have has had having can could would should "
    "will shall may might must please pls plz just really very quite some any all each every "
    "there here now not no yes what which who whom whose when where why how whats hey hi "
    "hello thanks thank ok okay about after before until till since between during through "
    "among within into over up down out off again also too only more most much many few own "
    "same such matter matters thing things i'm i've i'd i'll it's that's what's don't dont doesn't can't cant let's want "
    "need like one go get got give gives given answers answer use uses used using say says gets found mean means"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word and its place in the text."""

    text: str
    lower: str
    stem: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end

    @property
    def is_number(self) -> bool:
        return self.lower.isascii() and self.lower.isdigit()


def tokens(text: str) -> list[Token]:
    """The words of a text, in order."""
    found: list[Token] = []
    for match in _WORD.finditer(text):
        word = match.group()[:LONGEST_WORD]
        lower = word.lower().replace("’", "'")
        found.append(Token(word, lower, stem(lower), match.start(), match.end()))
        if len(found) == MOST_TOKENS:
            break
    return found


def name_parts(name: str) -> list[str]:
    """The words in an identifier: `due_date`, `dueDate` and `due-date` have the same two."""
    return [part.lower() for part in _PARTS.findall(name[:200])]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without the endings that inflection gives it; good enough to compare with others."""
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) < 4 or not word.isascii() or word in _KEPT:
        return word
    return _verb_stem(_singular(word))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "uses")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(_NO_PLURAL):
        return word[:-1]
    return word


def _verb_stem(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if (
            word.endswith(ending)
            and not word.endswith("eed")
            and len(base) >= 3
            and any(c in "aeiouy" for c in base)
        ):
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                return base[:-1]
            return base.removesuffix("e")
    return word.removesuffix("e") if len(word) > 4 else word


def stems(text: str) -> list[str]:
    """The stems of a text's words, those that carry no meaning left out."""
    return [token.stem for token in tokens(text) if token.lower not in STOP_WORDS]


def guessed(word: str, known: Iterable[str]) -> str | None:
    """The one of the known words that a misspelt one was probably meant to be."""
    if len(word) < SHORTEST_GUESSED or not word.isalpha():
        return None
    near = [
        candidate
        for candidate in sorted(known)
        if len(candidate) > 3 and candidate[0] == word[0] and _one_slip(word, candidate)
    ]
    return near[0] if near else None


def unswapped(word: str, known: Iterable[str]) -> str | None:
    """The known word that a short one is when two letters in it change places: taks, task."""
    return next(
        (
            candidate
            for candidate in sorted(known)
            if candidate[0] == word[0] and _swapped(word, candidate)
        ),
        None,
    )


def _swapped(one: str, other: str) -> bool:
    apart = [at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    return (
        len(one) == len(other)
        and len(apart) == len("ab")
        and apart[1] == apart[0] + 1
        and one[apart[0]] == other[apart[1]]
        and one[apart[1]] == other[apart[0]]
    )


def _one_slip(one: str, other: str) -> bool:
    """Whether one letter too many, too few, wrong or in the wrong place makes the difference."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    place = 0
    while place < min(len(one), len(other)) and one[place] == other[place]:
        place += 1
    left, right = one[place:], other[place:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:] and len(right) > 1
    # Among short words another letter mostly makes another word, and no slip.
    replaced = left[1:] == right[1:] and len(one) > 5
    return replaced or left[1:] == right or left == right[1:] or swapped


def within(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all of the wanted words are there."""
    return bool(wanted) and set(wanted) <= set(words)
