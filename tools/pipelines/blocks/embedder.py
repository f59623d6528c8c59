"""Texts to vectors: what an embedder is, and those this installation has."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

GRANITE: Final = "ibm-granite/granite-embedding-30m-english"
MINILM: Final = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_MODEL: Final = GRANITE
# Models behind the configured endpoint are called by their name there, behind this.
ENDPOINT_PREFIX: Final = "openai/"
# Vectors of queries that a process keeps: callers often ask again, with other parameters.
KEPT_QUERIES: Final = 1024

_SHORT_NAMES: Final[Mapping[str, str]] = {
    "": DEFAULT_MODEL,
    "granite": GRANITE,
    "minilm": MINILM,
    **{name.partition("/")[2].casefold(): name for name in (GRANITE, MINILM)},
    **{name.casefold(): name for name in (GRANITE, MINILM)},
}


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

    def embed_query(self, text: str) -> Vectors:
        """The vector of one text, of shape (dimensions,); those of the last queries are kept."""
        ...


class CachedQueries(ABC):
    """The part of an embedder that remembers the vectors of queries."""

    def __init__(self) -> None:
        self._query = lru_cache(maxsize=KEPT_QUERIES)(self._embed_one)

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text."""

    def embed_query(self, text: str) -> Vectors:
        """The vector of one text; it cannot be written to, as others get the same one."""
        return self._query(text)

    def forget_queries(self) -> None:
        """Drop the kept vectors: who measures how long a query takes must not be given them."""
        self._query.cache_clear()

    def _embed_one(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        vector.flags.writeable = False
        return vector


_loading: Final = threading.Lock()
_loaded: Final[dict[str, Embedder]] = {}


def embedder(model_id: str) -> Embedder:
    """The embedder of that name, loaded by whoever needs it first in this process (a second or so).

    Raises:
        EmbedderUnavailable: the model is not installed, or its files are not what they should be.
    """
    name = canonical(model_id)
    with _loading:
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def default_embedder() -> Embedder:
    """The embedder that finds tools.

    Raises:
        EmbedderUnavailable: as `embedder` does.
    """
    return embedder(MINILM)


def canonical(model_id: str) -> str:
    """The full id of a model that may be given by a short name; nothing is the default one."""
    return _SHORT_NAMES.get(model_id.strip().casefold(), model_id.strip())


def known_models() -> tuple[str, ...]:
    """The models that need nothing but requirements-models.txt; the default first."""
    return GRANITE, MINILM


def token_counter(model_id: str) -> Callable[[str], int]:
    """Counts the tokens of a text as that model does, without the two marks around them.

    Raises:
        EmbedderUnavailable: as `embedder` does.
    """
    return _counter(canonical(model_id))


@lru_cache(maxsize=8)
def _counter(name: str) -> Callable[[str], int]:
    from tools.pipelines.blocks.counting import counter_of

    return counter_of(name)


def _load(name: str) -> Embedder:
    # Imported here: a process that never embeds carries neither model nor runtime.
    if name == GRANITE:
        from tools.pipelines.blocks.granite import Granite

        return Granite.load()
    if name == MINILM:
        from tools.pipelines.blocks.minilm import MiniLm

        return MiniLm.load()
    if name.startswith(ENDPOINT_PREFIX):
        from tools.pipelines.blocks.endpoints.embeddings import EndpointEmbedder

        return EndpointEmbedder(name.removeprefix(ENDPOINT_PREFIX))
    if find_spec("sentence_transformers") is None:
        raise EmbedderUnavailable(
            f"{name} needs sentence-transformers, which is not installed: pip install "
            f"sentence-transformers, or choose one of {', '.join(known_models())}"
        )
    from tools.pipelines.blocks.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(name)
