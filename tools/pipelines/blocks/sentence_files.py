"""The sentences of an index and their vectors as mapped files.

vectors.bin    float16, the sentences of all passages one behind the other
offsets.npy    int64, where each passage's sentences begin, and the end
texts.bin      UTF-8, all sentences one behind the other
places.npy     int64, where each sentence's text begins, and the end
about.json     what made them
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.pipelines.blocks.encoder import whole
from tools.pipelines.blocks.token_encoder import DIMENSIONS, token_encoder
from tools.pipelines.blocks.token_files import OFFSETS, VECTORS, check_about, mapped, write_about
from tools.pipelines.contracts import Matrix, Rows

TEXTS: Final = "texts.bin"
PLACES: Final = "places.npy"


def write_sentences(
    folder: Path, passages: Iterable[tuple[Sequence[str], NDArray[np.float16]]]
) -> None:
    """Write the sentences of passages, in the order of their rows, into a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    counts: list[int] = []
    sizes: list[int] = []
    with (folder / VECTORS).open("wb") as vectors, (folder / TEXTS).open("wb") as texts:
        for sentences, own in passages:
            if own.shape != (len(sentences), DIMENSIONS):
                raise ValueError("a passage has not one vector for each of its sentences")
            vectors.write(np.ascontiguousarray(own, np.float16).tobytes())
            counts.append(len(sentences))
            sizes += [texts.write(whole(sentence).encode("utf-8")) for sentence in sentences]
    np.save(folder / OFFSETS, np.fromiter(accumulate(counts, initial=0), np.int64))
    np.save(folder / PLACES, np.fromiter(accumulate(sizes, initial=0), np.int64))
    write_about(folder)


def open_sentences(folder: Path) -> SentenceFiles:
    """The sentences of an index.

    Raises:
        BlockUnavailable: they are missing, or another model's.
    """
    check_about(folder)
    return SentenceFiles(folder)


class SentenceFiles:
    """See `SentenceStore` for what it promises."""

    def __init__(self, folder: Path) -> None:
        self._offsets: NDArray[np.int64] = np.load(folder / OFFSETS)
        self._places: NDArray[np.int64] = np.load(folder / PLACES, mmap_mode="r")
        count = int(self._offsets[-1])
        self._vectors = mapped(folder / VECTORS, np.float16, (count, DIMENSIONS))
        self._texts = mapped(folder / TEXTS, np.uint8, (int(self._places[-1]),))

    def sentences(self, row: int) -> Sequence[str]:
        """The sentences of a passage, in their order."""
        own = self._places[self._offsets[row] : self._offsets[row + 1] + 1]
        return [
            self._texts[own[number] : own[number + 1]].tobytes().decode("utf-8")
            for number in range(len(own) - 1)
        ]

    def scores(self, query: str, rows: Rows) -> list[Matrix]:
        """For each row the cosine of the query with each of its sentences."""
        asked = token_encoder().encode_question(query)
        return [
            self._vectors[self._offsets[row] : self._offsets[row + 1]].astype(np.float32) @ asked
            for row in rows
        ]

    def close(self) -> None:
        """Let go of the files; they are unmapped when the last query that uses them ends."""
        self._vectors = np.empty((0, DIMENSIONS), np.float16)
        self._texts = np.empty(0, np.uint8)
