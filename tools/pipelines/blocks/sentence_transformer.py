"""Any model of sentence-transformers, where an operator installed that package and the model's files."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from typing_extensions import override

from tools.pipelines.blocks.embedder import CachedQueries, EmbedderUnavailable, Vectors


class SentenceTransformerEmbedder(CachedQueries):
    """A model, loaded. See `Embedder` for what it promises."""

    def __init__(self, model_id: str) -> None:
        super().__init__()
        self.model_id = model_id
        # A torch model is not made for several threads at once.
        self._turn = threading.Lock()
        try:
            self._model: Any = SentenceTransformer(model_id, device="cpu", local_files_only=True)
        except (OSError, ValueError) as fault:
            raise EmbedderUnavailable(
                f"{model_id} is not among the models of this machine, and none is fetched while "
                "the control plane runs: download it first"
            ) from fault
        self.dimensions = int(self.embed(["dimensions"]).shape[1])

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        with self._turn:
            vectors = self._model.encode(
                list(texts), normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, np.float32)
