"""The order of the found tools: marks for meaning and for words, blended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools.backends.tool_search.texts import ToolText
from tools.contracts import ToolSpec

# How a search compared.
BOTH: Final = "meaning and words"
WORDS: Final = "words"
# The share of meaning in the blend; measured by bench/tool_search.py.
MEANING_SHARE: Final = 0.7
# Every tool resembles every query a little; below this it is no match. Words need none.
LEAST_ALIKE: Final = 0.08


@dataclass(frozen=True, slots=True)
class Match:
    """A found tool. `score` is between 0 and 1."""

    spec: ToolSpec
    score: float


def ranked(
    query: str,
    texts: Sequence[ToolText],
    words: Sequence[float],
    meaning: Sequence[float] | None,
    share: float = MEANING_SHARE,
) -> list[Match]:
    """The tools that match, best first. A tool named in the query comes before all others.

    `share` is the part of meaning in the score, where there is any.
    """
    named = _named(query)
    least = 0.0 if meaning is None else LEAST_ALIKE
    matches = []
    for index, text in enumerate(texts):
        score = words[index]
        if meaning is not None:
            score = share * max(0.0, meaning[index]) + (1 - share) * score
        if text.spec.name.casefold() in named:
            score = 1.0
        if score > least:
            matches.append(Match(text.spec, score))
    return sorted(matches, key=lambda match: (-match.score, match.spec.name))


def _named(query: str) -> frozenset[str]:
    """The names that the query may be meant as: the whole of it, or a name written out within."""
    folded = query.strip().casefold()
    whole = re.sub(r"[\s\-.]+", "_", folded)
    return frozenset({whole, *re.findall(r"\w+_\w+", folded)})
