"""A text encoder on onnxruntime: a tokenizer, a graph, and the batches that go through it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
from tokenizers import Encoding, Tokenizer
from typing_extensions import override

from tools.pipelines.blocks.embedder import CachedQueries, Vectors
from tools.pipelines.blocks.model_cache import Graphs

BATCH_TEXTS: Final = 16
# Texts times the longest of them. Larger batches took more memory and were no faster.
BATCH_TOKENS: Final = 2048


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as the model reads it, between its two marks. `offsets` are those of the characters."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class OnnxEncoder(CachedQueries):
    """A loaded model. See `Embedder` for what it promises."""

    model_id: ClassVar[str]
    dimensions: ClassVar[int]
    window: ClassVar[int]
    # The ids of the marks in front of and behind every text.
    marks: ClassVar[tuple[int, int]]

    def __init__(self, graphs: Graphs, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._graphs = graphs
        self._tokenizer = tokenizer

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        read = [self.read(text) for text in texts]
        for places in batches([len(one.ids) for one in read]):
            vectors[places] = self.run([read[place] for place in places], "vectors")
        return vectors

    @override
    def _embed_one(self, text: str) -> Vectors:
        vector: Vectors = self.run([self.read(text)], "vectors", quick=True)[0]
        vector.flags.writeable = False
        return vector

    def read(self, text: str, most: int | None = None) -> Tokens:
        """`text` as tokens, cut to the window, or to `most` of its own tokens where that is less."""
        encoded = self._encode(text)
        room = self.window - 2 if most is None else min(most, self.window - 2)
        return self._part(encoded, 0, room)

    def read_all(self, text: str) -> list[Tokens]:
        """All of `text`: as few pieces as fit the window, of like length."""
        encoded = self._encode(text)
        count = -(-len(encoded) // (self.window - 2)) or 1
        ends = [len(encoded) * number // count for number in range(count + 1)]
        return [self._part(encoded, start, end) for start, end in pairwise(ends)]

    def _encode(self, text: str) -> Encoding:
        # One by one: the tokenizer's own batches would take every core.
        return self._tokenizer.encode(whole(text), add_special_tokens=False)

    def _part(self, encoded: Encoding, start: int, end: int) -> Tokens:
        first, last = self.marks
        return Tokens((first, *encoded.ids[start:end], last), tuple(encoded.offsets[start:end]))

    def run(self, batch: Sequence[Tokens], output: str, *, quick: bool = False) -> Vectors:
        """One of the graph's outputs for a batch: `vectors`, or the `states` of every token.

        Queries are run `quick`, see `Graphs`.
        """
        ids = np.zeros((len(batch), max(len(one.ids) for one in batch)), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(batch):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        session = self._graphs.session(quick=quick)
        (found,) = session.run([output], {"ids": ids, "mask": mask})
        result: Vectors = found
        return result


def whole(text: str) -> str:
    """`text` with halves of characters, which JSON can carry, replaced one for one."""
    return text.encode("utf-8", "replace").decode("utf-8")


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts that run together: like lengths, so that little is padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (
            len(batch) == BATCH_TEXTS or (len(batch) + 1) * lengths[place] > BATCH_TOKENS
        ):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
