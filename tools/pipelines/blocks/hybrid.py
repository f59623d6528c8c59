"""The first stage that several techniques share: passages by meaning and by words, blended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.pipelines.blocks.fusion import best, convex, stretched
from tools.pipelines.contracts import Found, Matrix, OpenIndex

# How many passages each way of searching contributes. Fixed: how scores are stretched hangs on it, and
# the first places must not depend on how many passages are asked for.
POOL: Final = 100
# The share of meaning; words have the rest.
# docs/how-to/measure-quality.md says how these three were chosen.
DENSE_SHARE: Final = 0.8
# The nearest passages show what is meant: so many of them, with so much weight beside the question.
FEEDBACK_PASSAGES: Final = 3
FEEDBACK_WEIGHT: Final = 0.3


@dataclass(frozen=True, slots=True)
class FirstStage:
    """Passages by both ways together, and by meaning alone with their cosines."""

    found: Found
    dense: Found


def first_stage(index: OpenIndex, query: str, count: int) -> FirstStage:
    """The `count` best passages by meaning and words together."""
    vector = index.embed_query(query)
    dense = index.vectors.search(vector, POOL)
    words = index.lexical.search(query, POOL)
    near = _with_feedback(index, vector, dense)
    found = convex([(near, DENSE_SHARE), (words, 1 - DENSE_SHARE)], count)
    return FirstStage(found, dense)


def _with_feedback(index: OpenIndex, vector: Matrix, dense: Found) -> Found:
    """The same passages, compared with the question and the nearest of them together (Rocchio)."""
    if len(dense) <= FEEDBACK_PASSAGES:
        return dense
    vectors = index.vectors.vectors(dense.rows)
    # What stands out counts more; against the last one, as cosines have no zero of their own.
    lead = np.maximum(dense.scores[:FEEDBACK_PASSAGES] - dense.scores[-1], 0)
    total = float(lead.sum())
    if total <= 0:
        return dense
    shown = (lead / np.float32(total)) @ vectors[:FEEDBACK_PASSAGES]
    moved = vector + np.float32(FEEDBACK_WEIGHT) * shown
    return best(dense.rows, vectors @ (moved / np.linalg.norm(moved)), len(dense))


def blended(first: Found, scores: Matrix, share: float) -> Found:
    """The passages of `first` in the order of a blend with a second opinion on them.

    Both are stretched to 0..1 first; `share` is that of the second.
    """
    mixed = stretched(first.scores) * (1 - share) + stretched(scores) * share
    return best(first.rows, mixed.astype(np.float32), len(first))


def followed_by(head: Found, tail: Found) -> Found:
    """`head`, then what only `tail` has, in its order; scores go on falling."""
    rest = ~np.isin(tail.rows, head.rows)
    if not len(head) or not rest.any():
        return head if len(head) else tail
    scores = tail.scores[rest]
    # Behind the last of the head by as much as the tail falls.
    lowered = scores - scores[0] + min(float(head.scores[-1]), float(scores[0]))
    return Found(
        np.concatenate([head.rows, tail.rows[rest]]),
        np.concatenate([head.scores, lowered.astype(np.float32)]),
    )
