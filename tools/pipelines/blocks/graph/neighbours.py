"""Which passages stand near each other: by meaning, and by the entities that both name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.contracts import Matrix

# The nearest by meaning that a passage is tied to.
NEAREST: Final = 8
# The ties through entities, per passage; an entity of many passages ties none of them.
MOST_TIES: Final = 8
WIDEST_ENTITY: Final = 30
# What a tie through entities weighs beside one of meaning.
ENTITY_WEIGHT: Final = 0.5
_BLOCK: Final = 1024


@dataclass(frozen=True, slots=True)
class Ties:
    """A weighted graph, every tie there from both sides and ordered by `source`."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]


def tie(vectors: Matrix, passages: NDArray[np.int64], entities: NDArray[np.int64]) -> Ties:
    """The ties of passages: their vectors, and which of them name what, as parallel arrays."""
    count = len(vectors)
    near, shared = _by_meaning(vectors), _by_entities(passages, entities, count)
    source = np.concatenate([near.source, shared.source])
    target = np.concatenate([near.target, shared.target])
    weight = np.concatenate([near.weight, shared.weight * ENTITY_WEIGHT])
    return both_ways(source, target, weight, count)


def both_ways(
    source: NDArray[np.int64], target: NDArray[np.int64], weight: NDArray[np.float64], count: int
) -> Ties:
    """The same ties from either side, those of a pair added up."""
    pairs = np.concatenate([source * count + target, target * count + source])
    known, number = np.unique(pairs, return_inverse=True)
    weights = summed(number, np.concatenate([weight, weight]), len(known))
    return Ties(known // max(count, 1), known % max(count, 1), weights)


def summed(owner: NDArray[np.int64], worth: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """What each of `count` owners has in all."""
    return np.bincount(owner, weights=worth, minlength=count).astype(np.float64)


def _by_meaning(vectors: Matrix) -> Ties:
    """Each passage with its nearest; what all passages have in common does not count."""
    count = len(vectors)
    near = min(NEAREST, count - 1)
    if near < 1:
        return _none()
    centred = vectors - vectors.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
    found, worth = [], []
    for begin in range(0, count, _BLOCK):
        cosines = centred[begin : begin + _BLOCK] @ centred.T
        own = np.arange(len(cosines))
        cosines[own, begin + own] = -2.0
        places = np.argpartition(-cosines, near - 1, axis=1)[:, :near]
        found.append(places.ravel())
        worth.append(np.take_along_axis(cosines, places, axis=1).ravel())
    weight = np.maximum(np.concatenate(worth), 0.0).astype(np.float64)
    return Ties(np.repeat(np.arange(count), near), np.concatenate(found), weight)


def _by_entities(passages: NDArray[np.int64], entities: NDArray[np.int64], count: int) -> Ties:
    """Each passage with those that share most of what it names, the rarer the more."""
    order = np.argsort(entities, kind="stable")
    passages, entities = passages[order], entities[order]
    _, starts, sizes = np.unique(entities, return_index=True, return_counts=True)
    sources, targets, weights = [], [], []
    for size in range(2, WIDEST_ENTITY + 1):
        groups = passages[starts[sizes == size][:, None] + np.arange(size)]
        left, right = np.triu_indices(size, 1)
        sources.append(groups[:, left].ravel())
        targets.append(groups[:, right].ravel())
        weights.append(np.full(sources[-1].size, 1.0 / np.log2(1 + size)))
    ties = both_ways(
        np.concatenate(sources), np.concatenate(targets), np.concatenate(weights), count
    )
    return _strongest(ties)


def _strongest(ties: Ties) -> Ties:
    """For each passage its strongest ties alone, weighed against the strongest of all."""
    if not len(ties.source):
        return ties
    order = np.lexsort((-ties.weight, ties.source))
    source = ties.source[order]
    first = np.searchsorted(source, source)
    kept = order[np.arange(len(source)) - first < MOST_TIES]
    weight = np.minimum(ties.weight[kept] / np.percentile(ties.weight[kept], 90), 1.0)
    return Ties(ties.source[kept], ties.target[kept], weight)


def _none() -> Ties:
    nothing = np.empty(0, np.int64)
    return Ties(nothing, nothing, np.empty(0, np.float64))
