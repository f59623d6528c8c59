"""A question with the words added that set apart what it found: a rewrite without a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from tools.pipelines.blocks.words import content_words, stems, terms
from tools.pipelines.contracts import Passage
from tools.techniques import LONGEST_QUERY

# Words are taken from the best passages and weighed against the others.
BEST: Final = 3
ADDED_WORDS: Final = 6
SHORTEST: Final = 3


def expanded(query: str, passages: Sequence[Passage]) -> str:
    """`query` and the words that the best passages share and the rest have seldom.

    Passages are the best first; the query itself when they offer no word.
    """
    added = key_words(query, passages)
    longer = " ".join([query, *added])
    return longer if len(longer) <= LONGEST_QUERY else query


def key_words(query: str, passages: Sequence[Passage]) -> list[str]:
    """The words to add, the most telling first, each in the form it has most often."""
    asked = set(terms(query))
    worth: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for place, passage in enumerate(passages[:BEST]):
        found = [word for word in content_words(passage.indexed_text) if _telling(word)]
        stemmed = stems(found)
        for stem, word in zip(stemmed, found, strict=True):
            if stem not in asked:
                forms.setdefault(stem, Counter())[word] += 1
        # The first counts most: it is the likeliest to be about the question.
        worth.update(dict.fromkeys(set(stemmed) - asked, BEST - place))
    elsewhere: Counter[str] = Counter()
    for passage in passages[BEST:]:
        elsewhere.update(set(terms(passage.indexed_text)) & forms.keys())

    def order(stem: str) -> tuple[float, int, str]:
        return -worth[stem] / (1 + elsewhere[stem]), -forms[stem].total(), stem

    return [forms[stem].most_common(1)[0][0] for stem in sorted(forms, key=order)[:ADDED_WORDS]]


def _telling(word: str) -> bool:
    return len(word) >= SHORTEST and not word.isdigit()
