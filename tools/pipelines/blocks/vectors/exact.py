"""Exact search: every vector is compared, straight from the mapped file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from tools.pipelines.blocks.fusion import best
from tools.pipelines.contracts import Found, Mask, Matrix, Rows

VECTORS: Final = "vectors.npy"
# Rows that builders of stores take at once.
BLOCK_ROWS: Final = 16_384
# Below this share of allowed rows it is quicker to pick them out than to compare all.
FEW: Final = 0.2


def open_exact(folder: Path) -> ExactVectors:
    """The vectors of a version's folder, mapped."""
    return ExactVectors(np.load(folder / VECTORS, mmap_mode="r"))


class ExactVectors:
    """See `VectorStore` for what it promises; of equal scores the lower row comes first."""

    def __init__(self, matrix: Matrix) -> None:
        # A plain view: the class that numpy maps files with costs time at every slice.
        self._matrix: Matrix = matrix.view(np.ndarray)

    def search(self, vector: Matrix, count: int, allowed: Mask | None = None) -> Found:
        if count < 1 or not len(self._matrix):
            return Found.nothing()
        if allowed is None:
            return best(np.arange(len(self._matrix)), self._scores(vector), count)
        rows = np.flatnonzero(allowed)
        if len(rows) < FEW * len(self._matrix):
            return best(rows, self._matrix[rows] @ vector, count)
        return best(rows, self._scores(vector)[rows], count)

    def vectors(self, rows: Rows) -> Matrix:
        return self._matrix[rows]

    def __len__(self) -> int:
        return len(self._matrix)

    def close(self) -> None:
        """Let go of the mapped file."""
        self._matrix = np.empty((0, self._matrix.shape[1]), np.float32)

    def _scores(self, vector: Matrix) -> Matrix:
        # Half the time of a matrix product, which takes all cores and cannot use them for this.
        scores: Matrix = np.einsum("ij,j->i", self._matrix, vector)
        return scores
