"""Texts as the words that count: one way for passages and questions, whatever looks them up."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, Protocol

# Scripts that are written without spaces: each of their characters is a word.
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
# Too frequent in English to tell passages apart.
_FREQUENT: Final = (
    "a about above after again against all also am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each few for from further had "
    "has have having he her here hers herself him himself his how i if in into is it its itself just "
    "me more most my myself no nor not now of off on once only or other our ours ourselves out over "
    "own same she should so some such than that the their theirs them themselves then there these "
    "they this those through to too under until up very was we were what when where which while who "
    "whom whose why will with would you your yours yourself yourselves s t d ll m re ve"
)
STOP_WORDS: Final = frozenset(_FREQUENT.split())


class _Stemmer(Protocol):
    def stemWords(self, words: list[str]) -> list[str]: ...  # noqa: N802 - its own name


def words(text: str) -> list[str]:
    """The words of a text, in their order: lower case, without accents."""
    folded = text.casefold()
    if not folded.isascii():
        apart = unicodedata.normalize("NFKD", folded)
        folded = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    return _WORD.findall(folded)


def content_words(text: str) -> list[str]:
    """The words of a text without those that say nothing about what it is about."""
    return [word for word in words(text) if word not in STOP_WORDS]


def terms(text: str) -> list[str]:
    """What word search looks up: stems of the words that count."""
    return stems(content_words(text))


def stems(found: list[str]) -> list[str]:
    """Each word's stem: `flowing` and `flows` are both `flow`."""
    return _stemmer().stemWords(found)


@cache
def _stemmer() -> _Stemmer:
    # Only processes that search by words need it.
    import Stemmer

    stemmer: _Stemmer = Stemmer.Stemmer("english")
    return stemmer
