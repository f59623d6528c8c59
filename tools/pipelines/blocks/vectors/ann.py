"""Approximate search for large indexes: a graph of neighbours finds candidates, exact vectors rank them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.vectors.exact import BLOCK_ROWS, FEW, ExactVectors, open_exact
from tools.pipelines.contracts import Found, Mask, Matrix, Rows

GRAPH: Final = "vectors.usearch"
# Above this many passages comparing all of them takes too long.
SMALLEST: Final = 100_000
CONNECTIVITY: Final = 16
EXPANSION_BUILD: Final = 128
EXPANSION_SEARCH: Final = 256
# Candidates per wanted passage: what the graph orders wrongly is put right by the exact vectors.
CANDIDATES: Final = 4
LEAST_CANDIDATES: Final = 128


def build_ann(folder: Path, vectors: Matrix, *, threads: int = 0) -> None:
    """Write the graph of these vectors into `folder`; 0 threads means all cores."""
    index = _usearch().Index(
        ndim=vectors.shape[1],
        metric="cos",
        dtype="f16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_BUILD,
        expansion_search=EXPANSION_SEARCH,
    )
    for start in range(0, len(vectors), BLOCK_ROWS):
        block = np.ascontiguousarray(vectors[start : start + BLOCK_ROWS])
        index.add(np.arange(start, start + len(block)), block, threads=threads)
    index.save(str(folder / GRAPH))


def open_ann(folder: Path) -> AnnVectors:
    """The graph and the vectors of a version's folder, mapped."""
    # What the file does not keep: how far a search looks around.
    index = _usearch().Index.restore(
        str(folder / GRAPH), view=True, expansion_search=EXPANSION_SEARCH
    )
    if index is None:
        raise OSError(f"{GRAPH} cannot be read")
    return AnnVectors(index, open_exact(folder))


class AnnVectors:
    """See `VectorStore` for what it promises. The scores are exact, and nearly always the rows are."""

    def __init__(self, index: Any, exact: ExactVectors) -> None:
        self._index = index
        self._exact = exact

    def search(self, vector: Matrix, count: int, allowed: Mask | None = None) -> Found:
        if count < 1 or not len(self):
            return Found.nothing()
        share = 1.0 if allowed is None else float(allowed.mean())
        wanted = max(CANDIDATES * count, LEAST_CANDIDATES)
        asked = int(wanted / share) if share else 0
        # So many candidates would have to be looked at that all may be.
        if share < FEW or asked * CANDIDATES > len(self):
            return self._exact.search(vector, count, allowed)
        rows = self._candidates(vector, asked)
        if allowed is not None:
            rows = rows[allowed[rows]]
        if len(rows) < count:
            return self._exact.search(vector, count, allowed)
        return best(rows, self._exact.vectors(rows) @ vector, count)

    def vectors(self, rows: Rows) -> Matrix:
        return self._exact.vectors(rows)

    def __len__(self) -> int:
        return len(self._exact)

    def close(self) -> None:
        """Let go of the mapped files."""
        self._index = None
        self._exact.close()

    def _candidates(self, vector: Matrix, count: int) -> Rows:
        found: Rows = self._index.search(vector, count, threads=1).keys.astype(np.int64)
        return np.unique(found)


def _usearch() -> Any:
    # Loaded before the other, usearch 2.26 makes the process crash when onnxruntime 1.31 is loaded.
    import_module("onnxruntime")
    return import_module("usearch.index")
