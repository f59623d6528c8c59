"""The token vectors of an index as mapped files, and late interaction over them.

vectors.bin    int8, the tokens of all passages one behind the other
scales.bin     float32, one per token: times it, a token's vector is of length 1
offsets.npy    int64, where each passage's tokens begin, and the end
about.json     what made them
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.token_encoder import (
    DIMENSIONS,
    EncodedPassage,
    encoding_id,
    token_encoder,
)
from tools.pipelines.contracts import BlockUnavailable, Interaction, Matrix, Rows

VECTORS: Final = "vectors.bin"
SCALES: Final = "scales.bin"
OFFSETS: Final = "offsets.npy"
ABOUT: Final = "about.json"


def write_tokens(folder: Path, encoded: Iterable[EncodedPassage]) -> None:
    """Write the token vectors of passages, in the order of their rows, into a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lengths: list[int] = []
    with (folder / VECTORS).open("wb") as vectors, (folder / SCALES).open("wb") as scales:
        for passage in encoded:
            vectors.write(np.ascontiguousarray(passage.tokens, np.int8).tobytes())
            scales.write(np.ascontiguousarray(passage.scales, np.float32).tobytes())
            lengths.append(len(passage.tokens))
    np.save(folder / OFFSETS, np.fromiter(accumulate(lengths, initial=0), np.int64))
    write_about(folder)


def write_about(folder: Path) -> None:
    """Say what made the vectors of a folder; comes last, so that only whole folders say it."""
    (folder / ABOUT).write_text(json.dumps({"encoding": encoding_id()}), "utf-8")


def check_about(folder: Path) -> None:
    """Refuse a folder whose vectors cannot be compared with those of this process.

    Raises:
        BlockUnavailable: something else made them, or they are not there.
    """
    try:
        found = json.loads((folder / ABOUT).read_text("utf-8"))["encoding"]
    except (OSError, ValueError, LookupError, TypeError):
        raise BlockUnavailable(f"The index has no usable {folder.name}.") from None
    if found != encoding_id():
        raise BlockUnavailable(
            f"The {folder.name} of the index were made by another model; build a new version."
        )


def open_tokens(folder: Path) -> TokenFiles:
    """The token vectors of an index.

    Raises:
        BlockUnavailable: they are missing, or another model's.
    """
    check_about(folder)
    return TokenFiles(folder)


class TokenFiles:
    """See `TokenStore` for what it promises."""

    def __init__(self, folder: Path) -> None:
        self._offsets: NDArray[np.int64] = np.load(folder / OFFSETS)
        count = int(self._offsets[-1])
        self._vectors = mapped(folder / VECTORS, np.int8, (count, DIMENSIONS))
        self._scales = mapped(folder / SCALES, np.float32, (count,))

    def interact(
        self, query: str, rows: Rows, *, query_tokens: int = 256, keep: float = 1.0
    ) -> Interaction:
        """MaxSim: the mean, over the query's tokens, of the best cosine with a token of the passage.

        A passage without tokens has the lowest score there is.
        """
        asked = token_encoder().encode_query(query, query_tokens)
        vectors, lengths = self._tokens(rows)
        if keep < 1:
            vectors, lengths = pooled(vectors, lengths, keep)
        best = np.full((len(rows), len(asked)), -1, np.float32)
        filled = lengths > 0
        if len(asked) and filled.any():
            begins = np.cumsum(lengths) - lengths
            cosines = asked @ vectors.T
            best[filled] = np.maximum.reduceat(cosines, begins[filled], axis=1).T
        scores = best.mean(axis=1) if len(asked) else np.zeros(len(rows), np.float32)
        return Interaction(scores.clip(-1, 1), best, len(asked) * len(vectors))

    def close(self) -> None:
        """Let go of the files; they are unmapped when the last query that uses them ends."""
        self._vectors = np.empty((0, DIMENSIONS), np.int8)
        self._scales = np.empty(0, np.float32)

    def _tokens(self, rows: Rows) -> tuple[Matrix, NDArray[np.int64]]:
        """The vectors of the tokens of `rows`, one passage behind the other, and how many each has."""
        begins, ends = self._offsets[rows], self._offsets[rows + 1]
        if not len(rows):
            return np.empty((0, DIMENSIONS), np.float32), begins
        slices = [slice(begin, end) for begin, end in zip(begins, ends, strict=True)]
        vectors = np.concatenate([self._vectors[one] for one in slices]).astype(np.float32)
        vectors *= np.concatenate([self._scales[one] for one in slices])[:, None]
        return vectors, ends - begins


def pooled(
    vectors: Matrix, lengths: NDArray[np.int64], keep: float
) -> tuple[Matrix, NDArray[np.int64]]:
    """Fewer vectors: each passage's are joined with their neighbours until the share `keep` is left.

    A joined vector is the mean of its members, of length 1; the groups of a passage are of like size.
    """
    groups = np.ceil(lengths * max(keep, 0.0)).astype(np.int64)
    groups = np.maximum(groups, np.minimum(lengths, 1))
    if not groups.sum():
        return vectors, lengths
    # Group i of m over n tokens begins at token floor(i * n / m) of its passage.
    within = np.arange(groups.sum()) - np.repeat(np.cumsum(groups) - groups, groups)
    first = np.repeat(np.cumsum(lengths) - lengths, groups)
    begins = first + within * np.repeat(lengths, groups) // np.repeat(groups, groups)
    sizes = np.diff(begins, append=len(vectors))
    joined = vectors[begins]
    # One step per member of the largest group: `reduceat` takes fifty times as long.
    for step in range(1, int(sizes.max())):
        larger = np.flatnonzero(sizes > step)
        joined[larger] += vectors[begins[larger] + step]
    joined /= np.maximum(np.linalg.norm(joined, axis=1, keepdims=True), 1e-12)
    return joined, groups


def mapped(path: Path, kind: type[np.generic], shape: tuple[int, ...]) -> NDArray[np.generic]:
    """A file of numbers, mapped.

    Raises:
        BlockUnavailable: it is not of that size.
    """
    if path.stat().st_size != int(np.prod(shape)) * np.dtype(kind).itemsize:
        raise BlockUnavailable("A file of the index is damaged; build a new version.")
    if not shape[0]:
        # An empty file cannot be mapped.
        return np.empty(shape, kind)
    return np.memmap(path, kind, "r", shape=shape)
