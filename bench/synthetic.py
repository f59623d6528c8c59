"""Passages that are not about anything, but spread like real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.pipelines.contracts import IndexSource, Matrix, Passage

DIMENSIONS: Final = 384
VOCABULARY: Final = 50_000
WORDS: Final = 120
QUESTION_WORDS: Final = 8
CLUSTERS: Final = 500
SPREAD: Final = 0.9


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    vector: Matrix


class Synthetic:
    """`count` passages; the same ones for the same count."""

    def __init__(self, count: int) -> None:
        self._random = np.random.default_rng(count)
        centres = self._random.normal(size=(CLUSTERS, DIMENSIONS)).astype(np.float32)
        self.vectors = np.empty((count, DIMENSIONS), np.float32)
        for start in range(0, count, 10_000):
            block = self.vectors[start : start + 10_000]
            block[:] = centres[self._random.integers(0, CLUSTERS, len(block))]
            block += SPREAD * self._random.normal(size=block.shape).astype(np.float32)
            block /= np.linalg.norm(block, axis=1, keepdims=True)

    def source(self) -> IndexSource:
        """The passages with texts whose words are as rare and common as those of a language."""
        passages = [
            Passage(row=row, passage_id=str(row), document=str(row // 10), text=self._text(WORDS))
            for row in range(len(self.vectors))
        ]
        return IndexSource(passages, self.vectors, [[passage.text] for passage in passages])

    def questions(self, count: int) -> list[Question]:
        rows = self._random.integers(0, len(self.vectors), count)
        noise = 0.3 * self._random.normal(size=(count, DIMENSIONS)) / DIMENSIONS**0.5
        vectors = (self.vectors[rows] + noise).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [Question(self._text(QUESTION_WORDS), vector) for vector in vectors]

    def _text(self, words: int) -> str:
        ranks = np.minimum(self._random.zipf(1.1, words), VOCABULARY)
        return " ".join(f"w{rank}" for rank in ranks)
