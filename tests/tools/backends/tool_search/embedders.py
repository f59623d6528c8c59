"""The real embedder with a handle on it: tests can count, hold back or break its work."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tools.pipelines.blocks.embedder import Embedder, EmbedderUnavailable, Vectors, default_embedder


class Handled:
    """Passes on to the real model what tests let through."""

    def __init__(self) -> None:
        self._real = default_embedder()
        self.gate = threading.Event()
        self.gate.set()
        self.fault: Exception | None = None
        self.seen: list[str] = []
        self.loads = 0

    @property
    def model_id(self) -> str:
        return self._real.model_id

    @property
    def dimensions(self) -> int:
        return self._real.dimensions

    def load(self) -> Embedder:
        self.loads += 1
        return self

    def embed(self, texts: Sequence[str]) -> Vectors:
        assert self.gate.wait(30)
        if self.fault is not None:
            raise self.fault
        self.seen += texts
        return self._real.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector


def not_installed() -> Embedder:
    """What loading does where the weights were left out."""
    raise EmbedderUnavailable("the weights are not installed")
