"""Answers made of sentences of the passages, word for word, each with its citation.

A sentence counts by its meaning (the cosine with the question), by the words it shares with the
question, its passage's title included, and by the rank of its passage. Sentences are chosen one by
one: each must add something to those before it. Nothing is made up: when no sentence has to do with
the question, the answer is empty.

The figures were set on training questions (docs/how-to/use-an-llm.md says how good answers are).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.context import tokens
from tools.pipelines.blocks.generation.citations import cite
from tools.pipelines.blocks.words import terms
from tools.pipelines.contracts import Draft, Passage, Run, Stage, Usage
from tools.pipelines.sentences import split_sentences

MOST_SENTENCES: Final = 4
# What a sentence counts for: its similarity, the question's words it has, its passage's rank, and
# those words that no sentence before it has.
WORDS_WEIGHT: Final = 0.6
RANK_WEIGHT: Final = 0.2
NEW_WORDS_WEIGHT: Final = 4.0
# The share of a sentence's words that another before it may have.
MOST_REPEATED: Final = 0.7
# When no sentence reaches either, none has to do with the question.
LEAST_SIMILARITY: Final = 0.35
LEAST_WORDS: Final = 0.25
# Beside the best sentence, only such as are worth this part of it.
LEAST_WORTH: Final = 0.4
# Passages beyond these are hardly ever used, but cost time.
MOST_PASSAGES: Final = 20
SHORTEST_WORDS: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Sentence:
    """A sentence that may be used: of the `number`-th passage, there the `place`-th."""

    number: int
    place: int
    text: str
    similarity: float | None
    words: frozenset[str]
    covered: frozenset[str]


class ExtractiveGenerator:
    """Takes answers from the passages. `note` says why it is used, where another could be expected."""

    def __init__(self, note: str = "") -> None:
        self._note = note

    def generate(
        self, query: str, passages: Sequence[Passage], *, max_tokens: int, run: Run
    ) -> Draft:
        run.report(Stage.GENERATE, "Choosing sentences")
        asked = frozenset(terms(query))
        candidates = _candidates(query, asked, passages[:MOST_PASSAGES], run)
        chosen = _choose(candidates, asked)
        text, numbers = _fit(chosen, max_tokens)
        return Draft(
            text,
            "extractive",
            Usage(completion_tokens=tokens.count(text)),
            tuple(cite(number, passages[number - 1]) for number in sorted(numbers)),
            tokens.count(_composed(chosen)) > max_tokens,
            self._note,
        )


def _candidates(
    query: str, asked: frozenset[str], passages: Sequence[Passage], run: Run
) -> list[_Sentence]:
    """All sentences of the passages."""
    indexed = [passage for passage in passages if _is_indexed(passage, run)]
    scores = {}
    if indexed:
        rows = np.array([passage.row for passage in indexed], np.int64)
        found = run.index.sentences.scores(query, rows)
        scores = {passage.row: one for passage, one in zip(indexed, found, strict=True)}
    candidates = []
    for number, passage in enumerate(passages, 1):
        known = scores.get(passage.row) if passage in indexed else None
        texts = (
            [passage.text[start:end] for start, end in split_sentences(passage.text)]
            if known is None
            else run.index.sentences.sentences(passage.row)
        )
        about = frozenset(terms(passage.title)) & asked
        for place, text in enumerate(texts):
            words = frozenset(terms(text))
            similarity = None if known is None else float(known[place])
            covered = (words & asked) | about
            candidates.append(
                _Sentence(number, place, " ".join(text.split()), similarity, words, covered)
            )
    return [one for one in candidates if len(one.words) >= SHORTEST_WORDS]


def _is_indexed(passage: Passage, run: Run) -> bool:
    """Whether the index has the passage's sentences; results of others' searches it has not."""
    return (
        0 <= passage.row < len(run.index)
        and run.index.passage(passage.row).passage_id == passage.passage_id
    )


def _choose(candidates: Sequence[_Sentence], asked: frozenset[str]) -> list[_Sentence]:
    """The sentences of the answer, best first."""
    weights = _rarity(candidates, asked)
    if not any(_is_relevant(one, weights) for one in candidates):
        return []
    worth = {one: _worth(one, weights) for one in candidates}
    chosen: list[_Sentence] = []
    covered: set[str] = set()
    while worth and len(chosen) < MOST_SENTENCES:
        gains = {
            one: score + NEW_WORDS_WEIGHT * _share(one.covered - covered, weights)
            for one, score in worth.items()
        }
        following = max(gains, key=gains.__getitem__)
        chosen.append(following)
        covered |= following.covered
        least = LEAST_WORTH * _worth(chosen[0], weights)
        worth = {
            one: score
            for one, score in worth.items()
            if score >= least and one is not following and not _repeats(one, following)
        }
    return chosen


def _rarity(candidates: Sequence[_Sentence], asked: frozenset[str]) -> dict[str, float]:
    """What each word of the question weighs: the rarer among the sentences, the more."""
    having = Counter(word for one in candidates for word in one.covered)
    return {word: math.log(1 + len(candidates) / (1 + having[word])) for word in asked}


def _share(words: Iterable[str], weights: dict[str, float]) -> float:
    """The part of the question's weight that these words have."""
    return sum(weights[word] for word in words) / (sum(weights.values()) or 1.0)


def _worth(sentence: _Sentence, weights: dict[str, float]) -> float:
    shared = _share(sentence.covered, weights)
    # Without a vector the words stand in for the meaning.
    similarity = shared if sentence.similarity is None else sentence.similarity
    return similarity + WORDS_WEIGHT * shared + RANK_WEIGHT / sentence.number


def _is_relevant(sentence: _Sentence, weights: dict[str, float]) -> bool:
    similarity = sentence.similarity or 0.0
    return similarity >= LEAST_SIMILARITY or _share(sentence.covered, weights) >= LEAST_WORDS


def _repeats(sentence: _Sentence, other: _Sentence) -> bool:
    """Whether the two say nearly the same."""
    shorter = min(len(sentence.words), len(other.words))
    return len(sentence.words & other.words) > MOST_REPEATED * shorter


def _fit(chosen: Sequence[_Sentence], max_tokens: int) -> tuple[str, set[int]]:
    """The answer within its limit, and the numbers of the passages it cites."""
    kept: list[_Sentence] = []
    for sentence in chosen:
        if tokens.count(_composed([*kept, sentence])) <= max_tokens:
            kept.append(sentence)
    if kept or not chosen:
        return _composed(kept), {sentence.number for sentence in kept}
    # Not even the best sentence fits: its beginning is better than nothing.
    best = chosen[0]
    mark = f" … [{best.number}]"
    beginning = tokens.cut(best.text, max_tokens - tokens.count(mark)).rstrip()
    while beginning and tokens.count(beginning + mark) > max_tokens:
        beginning = beginning[:-1].rstrip()
    return (beginning + mark, {best.number}) if beginning else ("", set())


def _composed(sentences: Sequence[_Sentence]) -> str:
    """By passage, that of the best sentence first, and within a passage as it stands there."""
    passages = list(dict.fromkeys(sentence.number for sentence in sentences))
    ordered = sorted(sentences, key=lambda one: (passages.index(one.number), one.place))
    return " ".join(f"{sentence.text} [{sentence.number}]" for sentence in ordered)
