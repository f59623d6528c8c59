"""Embedding models behind an OpenAI-compatible API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from typing_extensions import override

from tools.pipelines.blocks.embedder import (
    ENDPOINT_PREFIX,
    CachedQueries,
    EmbedderUnavailable,
    Vectors,
)
from tools.pipelines.blocks.endpoints.client import Api, embeddings_api, post, unusable
from tools.pipelines.blocks.endpoints.faults import EndpointRefused

BATCH_TEXTS: Final = 64
# Of one batch, for those who have no deadline of their own.
BATCH_TIMEOUT: Final = 60.0


class EndpointEmbedder(CachedQueries):
    """A model of the configured API. See `Embedder` for what it promises.

    `dimensions` is what the model must have, for instance because an index does; 0 takes what the
    API gives, and holds it to that from then on.
    """

    def __init__(self, model: str, dimensions: int = 0, api: Api | None = None) -> None:
        super().__init__()
        self._api = api or embeddings_api()
        if not self._api.endpoint:
            raise EmbedderUnavailable(
                f"{ENDPOINT_PREFIX}{model} needs an embeddings API: set EMBEDDINGS_URL"
            )
        self._model = model
        self._dimensions = dimensions
        self.model_id = f"{ENDPOINT_PREFIX}{model}"

    @property
    def dimensions(self) -> int:
        if not self._dimensions:
            self.embed(["dimensions"])
        return self._dimensions

    @override
    def embed(self, texts: Sequence[str], *, timeout: float = BATCH_TIMEOUT) -> Vectors:
        """One unit vector per text; `timeout` is for each batch of them.

        Raises:
            EndpointFault: the API did not give them, or gave vectors of another model's size.
        """
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        starts = range(0, len(texts), BATCH_TEXTS)
        return np.concatenate(
            [self._batch(texts[start : start + BATCH_TEXTS], timeout) for start in starts]
        )

    def _batch(self, texts: Sequence[str], timeout: float) -> Vectors:
        # An empty text is refused by many; a space says as little.
        payload = {"model": self._model, "input": [text.strip() or " " for text in texts]}
        with post(self._api, "embeddings", payload, timeout=timeout) as answer:
            vectors = self._read(answer.json(), len(texts))
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            if not (np.isfinite(lengths).all() and (lengths > 0).all()):
                raise unusable(self._api, "a vector has no direction")
        found = vectors.shape[1]
        if self._dimensions not in {0, found}:
            raise EndpointRefused(
                f"{self._api.title} gives vectors of {found} dimensions, not {self._dimensions}"
            )
        self._dimensions = found
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

    def _read(self, answer: Any, count: int) -> Vectors:
        try:
            rows = {row["index"]: row["embedding"] for row in answer["data"]}
            vectors = np.asarray([rows[place] for place in range(count)], dtype=np.float64)
        except (KeyError, TypeError, ValueError):
            raise unusable(self._api, "it has not one vector for each text") from None
        if vectors.ndim != 2 or vectors.shape[1] == 0 or len(rows) != count:
            raise unusable(self._api, "it has not one vector for each text")
        return vectors.astype(np.float64)
