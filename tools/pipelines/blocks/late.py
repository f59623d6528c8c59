"""What orders passages anew by looking at query and passage together: the rerankers there are.

A reranker is chosen by the name of a model. Where that model cannot be had, the embedded scorer takes
its place, and `name` says so: a caller is never told of a model that did not run.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final, Protocol

import numpy as np

from tools.conf import deployment
from tools.pipelines.contracts import Matrix, OpenIndex, Passage

DEFAULT_RERANKER: Final = "cross-encoder/ms-marco-MiniLM-L-6-v2"
# The name of late interaction over the token vectors of the index.
EMBEDDED: Final = "embedded-maxsim"
ENDPOINT_TIMEOUT: Final = 30.0
BATCH_PASSAGES: Final = 16
# Torch models that a process keeps, as callers may name them.
KEPT_MODELS: Final = 2
# Names of published models. Callers choose them, so none may be a path on this machine.
_MODEL_NAME: Final = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)


class Reranker(Protocol):
    """Scores passages for a query. Scores of one call can be compared with each other.

    `name` is what really scores. `alone` says whether its order can stand for itself; if not, it
    should be blended with the order that the passages came in.
    """

    @property
    def name(self) -> str: ...

    @property
    def alone(self) -> bool: ...

    def scores(self, query: str, passages: Sequence[Passage], timeout: float = ...) -> Matrix:
        """One score per passage, in their order.

        Raises:
            BlockUnavailable: they cannot be scored now.
        """
        ...


def reranker_for(model: str, index: OpenIndex) -> Reranker:
    """The reranker for a model: the configured endpoint, else an installed package, else our own.

    The endpoint is asked for any model but the embedded one. Models that are not here already are
    not fetched.
    """
    if model != EMBEDDED:
        if deployment().rag.rerank:
            return EndpointReranker(model)
        installed = _installed(model)
        if installed is not None:
            return installed
    return EmbeddedReranker(index)


def late_interaction_for(model: str, index: OpenIndex) -> Reranker:
    """What scores by late interaction: a ColBERT model of PyLate where it can be had, else our own."""
    if model != EMBEDDED:
        loaded = _pylate(model)
        if loaded is not None:
            return loaded
    return EmbeddedReranker(index)


class EmbeddedReranker:
    """MaxSim over the token vectors that the index holds."""

    name = EMBEDDED
    alone = False

    def __init__(self, index: OpenIndex) -> None:
        self._index = index

    def scores(
        self, query: str, passages: Sequence[Passage], timeout: float = ENDPOINT_TIMEOUT
    ) -> Matrix:
        rows = np.fromiter((passage.row for passage in passages), np.int64, len(passages))
        return self._index.tokens.interact(query, rows).scores


class EndpointReranker:
    """A model behind the configured reranking API."""

    alone = True

    def __init__(self, model: str) -> None:
        self.name = model

    def scores(
        self, query: str, passages: Sequence[Passage], timeout: float = ENDPOINT_TIMEOUT
    ) -> Matrix:
        from tools.pipelines.blocks.endpoints.client import rerank_api
        from tools.pipelines.blocks.endpoints.rerank import rerank

        texts = [passage.indexed_text for passage in passages]
        return rerank(rerank_api(), self.name, query, texts, timeout=timeout)


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers."""

    alone = True

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        # A torch model is not made for several threads at once.
        self._turn = threading.Lock()

    def scores(
        self, query: str, passages: Sequence[Passage], timeout: float = ENDPOINT_TIMEOUT
    ) -> Matrix:
        pairs = [(query, passage.indexed_text) for passage in passages]
        if not pairs:
            return np.empty(0, np.float32)
        with self._turn:
            found = self._model.predict(
                pairs, batch_size=BATCH_PASSAGES, show_progress_bar=False, convert_to_numpy=True
            )
        return np.asarray(found, np.float32).reshape(len(pairs))


class PyLateReranker:
    """A ColBERT model of PyLate."""

    alone = True

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        self._turn = threading.Lock()

    def scores(
        self, query: str, passages: Sequence[Passage], timeout: float = ENDPOINT_TIMEOUT
    ) -> Matrix:
        texts = [passage.indexed_text for passage in passages]
        if not texts:
            return np.empty(0, np.float32)
        with self._turn:
            asked = self._model.encode([query], is_query=True, show_progress_bar=False)[0]
            given = self._model.encode(
                texts, is_query=False, batch_size=BATCH_PASSAGES, show_progress_bar=False
            )
        best = [(asked @ np.asarray(one).T).max(axis=1).mean() for one in given]
        return np.asarray(best, np.float32)


@lru_cache(maxsize=KEPT_MODELS)
def _installed(model: str) -> Reranker | None:
    """The cross-encoder of that name, if sentence-transformers and the model's files are here."""
    if find_spec("sentence_transformers") is None or not _MODEL_NAME.fullmatch(model):
        return None
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoderReranker(model, CrossEncoder(model, local_files_only=True))
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=KEPT_MODELS)
def _pylate(model: str) -> Reranker | None:
    """The ColBERT model of that name, if PyLate and the model's files are here."""
    if find_spec("pylate") is None or not _MODEL_NAME.fullmatch(model):
        return None
    from pylate import models

    try:
        return PyLateReranker(model, models.ColBERT(model, local_files_only=True))
    except (OSError, ValueError):
        return None
