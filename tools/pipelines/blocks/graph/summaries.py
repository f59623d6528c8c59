"""What a group of passages is about: a title of what it names most, and sentences of its centre."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.graph.links import Links
from tools.pipelines.blocks.words import STOP_WORDS, content_words, terms
from tools.pipelines.contracts import IndexSource

TITLE_NAMES: Final = 3
SUMMARY_SENTENCES: Final = 3
# The passages nearest the centre, whose words say what is typical and whose sentences may be taken.
READ_PASSAGES: Final = 8
# The passages that tell how frequent words are.
SAMPLE: Final = 2000
SENTENCE_WORDS: Final = (6, 60)


@dataclass(frozen=True, slots=True)
class Summary:
    """Sentences and the rows they are from."""

    sentences: tuple[str, ...]
    rows: tuple[int, ...]


def titles(links: Links, group: NDArray[np.int64], count: int) -> list[list[str]]:
    """For each of `count` groups the names its passages share most, the most telling first.

    `group` is that of each passage of the links, or -1.
    """
    owner = group[links.passage]
    kept = owner >= 0
    total = max(len(links.entities), 1)
    pairs, times = np.unique(owner[kept] * total + links.entity[kept], return_counts=True)
    owner, entity = pairs // total, pairs % total
    order = np.lexsort((entity, -links.worth[entity] * times, owner))
    begin = np.searchsorted(owner[order], np.arange(count + 1))
    # More than are used: some will be parts of others.
    best = [
        order[begin[one] : min(begin[one + 1], begin[one] + 4 * TITLE_NAMES)]
        for one in range(count)
    ]
    return [
        _distinct([" ".join(links.entities.names[entity[place]].split()) for place in places])
        for places in best
    ]


def _distinct(names: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    for name in names:
        words = set(name.casefold().split())
        if name.casefold().split()[-1] in STOP_WORDS:
            continue
        if not any(words & set(other.casefold().split()) for other in chosen):
            chosen.append(name)
    return chosen[:TITLE_NAMES]


def fallback_title(source: IndexSource, rows: Sequence[int]) -> str:
    """For a group that names nothing: its central passage's title, or its most frequent words."""
    for row in rows[:READ_PASSAGES]:
        if source.passages[row].title.strip():
            return source.passages[row].title.strip()
    words = Counter(
        word for row in rows[:READ_PASSAGES] for word in content_words(source.passages[row].text)
    )
    return ", ".join(word for word, _ in words.most_common(TITLE_NAMES)) or "Passages"


class Summarizer:
    """Takes sentences out of groups of passages. What a word weighs is learned from a sample of all."""

    def __init__(self, source: IndexSource) -> None:
        self._source = source
        count = len(source.passages)
        sample = np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64)).tolist()
        having = Counter(
            word for row in sample for word in frozenset(terms(source.passages[row].text))
        )
        self._rarity = {word: log((len(sample) + 1) / times) for word, times in having.items()}
        self._rarest = log(len(sample) + 1)

    def summarize(self, rows: Sequence[int]) -> Summary:
        """One sentence of each of the most central passages: those with the words that most of these
        use and others do not."""
        read = [(row, self._source.sentences[row]) for row in rows[:READ_PASSAGES]]
        words = {row: [frozenset(terms(one)) for one in sentences] for row, sentences in read}
        spread = Counter(word for own in words.values() for word in frozenset().union(*own))
        weights = {
            word: times * self._rarity.get(word, self._rarest) for word, times in spread.items()
        }
        chosen: list[tuple[str, int]] = []
        for row, sentences in read:
            best = _best(sentences, words[row], weights)
            if best is None:
                continue
            chosen.append((" ".join(sentences[best].split()), row))
            # What was said already counts half.
            weights |= {word: weights[word] / 2 for word in words[row][best]}
            if len(chosen) == SUMMARY_SENTENCES:
                break
        return Summary(tuple(text for text, _ in chosen), tuple(row for _, row in chosen))


def _best(
    sentences: Sequence[str], words: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> int | None:
    """The sentence of a usual length whose words weigh most."""
    least, most = SENTENCE_WORDS
    scores = {
        place: sum(weights[word] for word in own) / len(own) ** 0.5
        for place, own in enumerate(words)
        if own and least <= len(sentences[place].split()) <= most
    }
    return max(scores, key=lambda place: (scores[place], -place)) if scores else None
