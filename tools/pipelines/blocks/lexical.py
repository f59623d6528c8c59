"""Word search: BM25 over the passages' stems, as arrays that all processes of a host map and share.

The score of each word in each passage is worked out when the index is built, so a question costs one
addition per passage that has one of its words.

    words.json      the number of each stem
    starts.npy      where the passages of each stem begin, and the end
    rows.npy        the passages, stem by stem
    scores.npy      what the stem is worth in each
    count.json      how many passages there are
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from tools.pipelines.blocks.fusion import best
from tools.pipelines.blocks.words import terms
from tools.pipelines.contracts import Found, IndexSource, Mask, Matrix

# How soon more of the same word stops to count, and how much long passages are held back.
K1: Final = 1.2
B: Final = 0.75
WORDS: Final = "words.json"
COUNT: Final = "count.json"
_ARRAYS: Final = {"starts": "indptr", "rows": "indices", "scores": "data"}


@dataclass(frozen=True, slots=True)
class Postings:
    """The passages of each word and what it is worth in them, word by word."""

    count: int
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    scores: Matrix


_NO_POSTINGS: Final = Postings(
    0, np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
)


def build_lexical(folder: Path, source: IndexSource) -> None:
    """Write the index of these passages into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary: dict[str, int] = {}
    rows = [
        [vocabulary.setdefault(term, len(vocabulary)) for term in terms(passage.indexed_text)]
        for passage in source.passages
    ]
    # The library divides by the mean length, so that without words there is nothing it can do.
    if vocabulary:
        for name, values in _worth(rows, vocabulary).items():
            np.save(folder / f"{name}.npy", values)
    (folder / WORDS).write_bytes(orjson.dumps(vocabulary))
    (folder / COUNT).write_bytes(orjson.dumps(len(rows)))


def _worth(rows: list[list[int]], vocabulary: dict[str, int]) -> dict[str, NDArray[np.generic]]:
    """The arrays of the index, by the names of their files."""
    # Only builders need it: it takes long to import, and writes to the log what nobody asked for.
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(k1=K1, b=B, method="lucene", csc_backend="scipy")
    index.index((rows, vocabulary), create_empty_token=False, show_progress=False)
    return {name: index.scores[theirs] for name, theirs in _ARRAYS.items()}


def open_lexical(folder: Path) -> BM25Index:
    """The index that `build_lexical` wrote, mapped."""
    vocabulary = orjson.loads((folder / WORDS).read_bytes())
    if not vocabulary:
        return BM25Index({}, _NO_POSTINGS)
    arrays = {
        # As plain arrays: each slice of a mapped one costs more than adding it up.
        name: np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray)
        for name in _ARRAYS
    }
    count = orjson.loads((folder / COUNT).read_bytes())
    return BM25Index(vocabulary, Postings(count=count, **arrays))


class BM25Index:
    """See `LexicalIndex` for what it promises; of equal scores the lower row comes first."""

    def __init__(self, vocabulary: Mapping[str, int], postings: Postings) -> None:
        self._vocabulary = vocabulary
        self._postings = postings

    def search(self, text: str, count: int, allowed: Mask | None = None) -> Found:
        """The passages with the most telling words of `text`; words it repeats count as often."""
        asked = Counter(term for term in terms(text) if term in self._vocabulary)
        if not asked or count < 1:
            return Found.nothing()
        postings = self._postings
        totals = np.zeros(postings.count, np.float32)
        for term, times in asked.items():
            number = self._vocabulary[term]
            span = slice(postings.starts[number], postings.starts[number + 1])
            # A passage stands once under a word, so plain addition does not lose any.
            totals[postings.rows[span]] += postings.scores[span] * np.float32(times)
        if allowed is not None:
            totals[~allowed] = 0
        rows = np.flatnonzero(totals)
        return best(rows, totals[rows], count)

    def close(self) -> None:
        """Let go of the mapped files."""
        self._vocabulary, self._postings = {}, _NO_POSTINGS
