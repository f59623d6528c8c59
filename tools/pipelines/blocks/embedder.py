"""Texts to vectors: what an embedder is, and the one this installation has."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbedderUnavailable(Exception):
    """There is no usable model here; the message says what is missing, for the operator."""


class Embedder(Protocol):
    """A model that gives texts of like meaning vectors of like direction.

    `embed` gives one row per text, each of length 1, so that the dot product is the cosine. What
    goes beyond the model's window is cut off. Safe to call from several threads.
    Vectors of different `model_id` must never be compared.
    """

    @property
    def model_id(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


_loading: Final = threading.Lock()
_loaded: Embedder | None = None


def default_embedder() -> Embedder:
    """The embedder of this process, loaded by whoever needs it first (about a second).

    Raises:
        EmbedderUnavailable: the model is not installed, or its files are not what they should be.
    """
    global _loaded  # noqa: PLW0603 - one model per process is the point
    with _loading:
        if _loaded is None:
            # Imported here: a process that never embeds carries neither model nor runtime.
            from tools.pipelines.blocks.minilm import MiniLm

            _loaded = MiniLm.load()
        return _loaded
