"""Levels of groups, each split out of the one before."""

from __future__ import annotations

from typing import Final

import numpy as np

from tools.pipelines.blocks.graph.neighbours import Ties
from tools.pipelines.blocks.graph.partition import Labels, split
from tools.pipelines.contracts import Matrix

MOST_LEVELS: Final = 6
# How finely each level splits the groups of the one before; 1 is plain modularity.
FIRST_RESOLUTION: Final = 0.5
RESOLUTION: Final = 1.0
# A level has at least so many times the groups of the one before.
LEAST_GAIN: Final = 1.1
# Groups smaller than this are not split, and what would be smaller than SMALLEST joins a neighbour.
SPLIT_FROM: Final = 8
SMALLEST: Final = 3


def find_levels(ties: Ties, vectors: Matrix) -> list[Labels]:
    """The groups of each passage, level by level; no level where there are no passages."""
    if not len(vectors):
        return []
    labels = np.zeros(len(vectors), np.int64)
    levels: list[Labels] = []
    while len(levels) < MOST_LEVELS:
        resolution = RESOLUTION if levels else FIRST_RESOLUTION
        finer = _without_small(split(ties, labels, resolution), labels, vectors)
        if levels and finer.max() + 1 < LEAST_GAIN * (labels.max() + 1):
            break
        levels.append(finer)
        labels = finer
    return levels


def mean_vectors(vectors: Matrix, labels: Labels) -> Matrix:
    """The centre of each group, of length 1."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
    sums = np.add.reduceat(vectors[order], starts, axis=0)
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    centres: Matrix = (sums / lengths).astype(np.float32)
    return centres


def _without_small(finer: Labels, labels: Labels, vectors: Matrix) -> Labels:
    """The split, undone where the group is small; splinters join the nearest group of theirs."""
    sizes = np.bincount(labels)
    # Numbers of unsplit groups stand behind those of the split ones.
    finer = np.where(sizes[labels] < SPLIT_FROM, labels + int(finer.max()) + 1, finer)
    _, finer = np.unique(finer, return_inverse=True)
    small = np.bincount(finer)[finer] < SMALLEST
    parents = np.zeros(int(finer.max()) + 1, np.int64)
    parents[finer] = labels
    whole = np.unique(finer[~small])
    if small.any() and len(whole):
        fits = vectors[small] @ mean_vectors(vectors, finer)[whole].T
        fits[labels[small][:, None] != parents[whole][None, :]] = -2.0
        nearest = whole[np.argmax(fits, axis=1)]
        # A group with splinters alone stays as it was.
        finer[small] = np.where(fits.max(axis=1) > -2.0, nearest, labels[small] + len(parents))
    elif small.any():
        finer[small] = labels[small] + len(parents)
    return np.unique(finer, return_inverse=True)[1].astype(np.int64)
