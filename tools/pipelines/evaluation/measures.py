"""Measures of one ranking against judgements, as trec_eval defines them.

A ranking is document ids, best first, each once. Grades of 0 and below are not relevant; documents
without a judgement count as not relevant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Final

DEPTH: Final = 100
# The measure that comparisons and the gate look at.
LEADING: Final = "ndcg@10"
MEASURES: Final = ("ndcg@10", "recall@5", "recall@10", "recall@100", "mrr@10")


def measure(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Every measure of one query's ranking, by name."""
    return {
        "ndcg@10": ndcg(ranking, grades, 10),
        "recall@5": recall(ranking, grades, 5),
        "recall@10": recall(ranking, grades, 10),
        "recall@100": recall(ranking, grades, DEPTH),
        "mrr@10": reciprocal_rank(ranking, grades, 10),
    }


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """The gain of the first `depth`, each place worth less than the one before, as a share of the
    gain of the best possible order. The gain of a document is its grade."""
    gains = [max(grades.get(document, 0), 0) for document in ranking[:depth]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    return _discounted(gains) / _discounted(ideal) if ideal else 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """The share of the relevant documents that is among the first `depth`."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """1 / the rank of the first relevant document; 0 when none is among the first `depth`."""
    relevant = _relevant(grades)
    ranks = (rank for rank, document in enumerate(ranking[:depth], start=1) if document in relevant)
    return 1 / next(ranks, float("inf"))


def _relevant(grades: Mapping[str, int]) -> set[str]:
    return {document for document, grade in grades.items() if grade > 0}


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(place + 2) for place, gain in enumerate(gains))
