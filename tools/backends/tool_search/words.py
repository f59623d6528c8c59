"""Finding tools by words: BM25 over weighted fields, with a mark between 0 and 1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from tools.backends.tool_search.texts import ToolText, stems

SATURATION: Final = 1.5
LENGTH_SHARE: Final = 0.4
SHORTEST_MISSPELT: Final = 4
LEAST_ALIKE: Final = 0.75
# A word that was only guessed from a misspelt one counts less.
GUESSED: Final = 0.7


class WordIndex:
    """The words of a fixed set of tools. What is rare is judged within this set alone."""

    def __init__(self, texts: Sequence[ToolText]) -> None:
        self._texts = texts
        self._frequency = Counter(term for text in texts for term in text.terms)
        self._average = sum(text.length for text in texts) / len(texts) if texts else 1.0

    def marks(self, query: str) -> list[float]:
        """For each tool how well it matches: 0 for no word in common, near 1 for all of them."""
        wanted = Counter(stems(query))
        known = [self._known(term) for term in wanted]
        rarity = [self._rarity(term) for term, _ in known]
        most = sum(weight * count for weight, count in zip(rarity, wanted.values(), strict=True))
        if not most:
            return [0.0] * len(self._texts)
        asked = [
            (term, weight * share * count / most)
            for (term, share), weight, count in zip(known, rarity, wanted.values(), strict=True)
        ]
        return [self._mark(text, asked) for text in self._texts]

    def _mark(self, text: ToolText, asked: Sequence[tuple[str, float]]) -> float:
        room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * text.length / self._average)
        mark = 0.0
        for term, weight in asked:
            count = text.terms.get(term)
            if count:
                mark += weight * count / (count + room)
        return mark

    def _rarity(self, term: str) -> float:
        holding = self._frequency.get(term, 0)
        return math.log(1 + (len(self._texts) - holding + 0.5) / (holding + 0.5))

    def _known(self, term: str) -> tuple[str, float]:
        """The term itself, or the one a misspelt term was probably meant to be."""
        if term in self._frequency or len(term) < SHORTEST_MISSPELT:
            return term, 1.0
        found = process.extractOne(
            term,
            self._frequency.keys(),
            scorer=DamerauLevenshtein.normalized_similarity,
            score_cutoff=LEAST_ALIKE,
        )
        return (found[0], GUESSED) if found else (term, 1.0)
