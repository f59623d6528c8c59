"""Orders of passages made from several: by their scores, or by their ranks alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tools.pipelines.contracts import Found, Matrix, Rows

# The smoothing constant of the paper that introduced reciprocal rank fusion.
RRF_K: Final = 60


def best(rows: Rows, scores: Matrix, count: int) -> Found:
    """The `count` highest of these scores, best first; of equal ones the lower row comes first."""
    if count < len(rows):
        bound = np.partition(scores, len(scores) - count)[len(scores) - count]
        # All that equal the last one stay in, so that the rule for ties decides among them.
        near = np.flatnonzero(scores >= bound)
        rows, scores = rows[near], scores[near]
    order = np.lexsort((rows, -scores))[:count]
    return Found(rows[order], scores[order])


def stretched(scores: Matrix) -> Matrix:
    """The scores moved and scaled to 0..1; all 1 when they do not differ."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    if high <= low:
        return np.ones_like(scores)
    return (scores - low) / np.float32(high - low)


def convex(parts: Sequence[tuple[Found, float]], count: int) -> Found:
    """The weighted sum of the parts' scores, each stretched to 0..1 first.

    A passage that a part did not find has the least that part can give, 0. Weights are shares: those
    of parts that found nothing go to the others.
    """
    found = [(part, weight) for part, weight in parts if len(part)]
    total = sum(weight for _, weight in found)
    return _summed([(part.rows, stretched(part.scores) * (w / total)) for part, w in found], count)


def reciprocal_ranks(parts: Sequence[Found], count: int, *, k: int = RRF_K) -> Found:
    """The sum of 1 / (k + rank) over the parts that found a passage."""
    return _summed(
        [(part.rows, (1.0 / (k + 1 + np.arange(len(part)))).astype(np.float32)) for part in parts],
        count,
    )


def _summed(parts: Sequence[tuple[Rows, Matrix]], count: int) -> Found:
    if not parts:
        return Found.nothing()
    rows, places = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
    shares = np.concatenate([scores for _, scores in parts]).astype(np.float64)
    scores = np.bincount(places, weights=shares, minlength=len(rows)).astype(np.float32)
    return best(rows, scores, count)
