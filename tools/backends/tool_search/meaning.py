"""Finding tools by meaning: a vector for each, computed behind the callers' backs.

The model is loaded by the first search of a process. A search waits a moment for vectors it lacks
and goes on without meaning when they take longer; they are there for a later one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np

from tools.backends.tool_search.texts import ToolText
from tools.backends.tool_search.vectors import Vector, VectorFile
from tools.pipelines.blocks.embedder import Embedder, EmbedderUnavailable, Vectors

logger = logging.getLogger(__name__)

# How much the name says beside the description; measured by bench/tool_search.py.
NAME_SHARE: Final = 1 / 3
BATCH: Final = 16
MOST_VECTORS: Final = 20_000
# After a fault that may pass, such as a full disk.
TRY_AGAIN_AFTER: Final = 60.0


def tool_vectors(embedder: Embedder, texts: Sequence[ToolText]) -> Vectors:
    """A vector for each tool, whose dot product with a query's is the mean of two cosines."""
    called = embedder.embed([text.called for text in texts])
    does = embedder.embed([text.does for text in texts])
    return np.asarray(NAME_SHARE * called + (1 - NAME_SHARE) * does, dtype=np.float32)


class Meaning:
    """The vectors of this process. `load` gives the embedder, `path` is where vectors are kept."""

    def __init__(
        self,
        load: Callable[[], Embedder],
        path: Callable[[], Path],
        executor: Executor,
        clock: Callable[[], float],
    ) -> None:
        self._load = load
        self._path = path
        self._executor = executor
        self._clock = clock
        self._model: tuple[Embedder, VectorFile] | None = None
        self._vectors: dict[str, Vector] = {}
        self._wanted: dict[str, ToolText] = {}
        self._work: asyncio.Task[None] | None = None
        self._not_before = 0.0

    async def prepare(self, texts: Sequence[ToolText], patience: float) -> bool:
        """Whether `texts` can be compared by meaning, after waiting `patience` seconds at most."""
        if self._ready(texts):
            return True
        if self._clock() < self._not_before:
            return False
        self._wanted |= {text.digest: text for text in texts if text.digest not in self._vectors}
        await asyncio.wait({self._working()}, timeout=patience)
        return self._ready(texts)

    def marks(self, query: str, texts: Sequence[ToolText]) -> list[float] | None:
        """For each tool how near it is to `query`: the mean of the cosines with its passages.

        None when a vector is gone meanwhile. Blocks.
        """
        vectors = [self._vectors.get(text.digest) for text in texts]
        known = [vector for vector in vectors if vector is not None]
        if self._model is None or len(known) < len(vectors):
            return None
        if not known:
            return []
        embedder, _ = self._model
        return [float(mark) for mark in np.stack(known) @ embedder.embed([query])[0]]

    def _ready(self, texts: Sequence[ToolText]) -> bool:
        return self._model is not None and all(text.digest in self._vectors for text in texts)

    def _working(self) -> asyncio.Task[None]:
        work = self._work
        if work is None or work.done() or work.get_loop() is not asyncio.get_running_loop():
            work = self._work = asyncio.create_task(self._catch_up())
        return work

    async def _catch_up(self) -> None:
        """Load the model if need be, then embed what is wanted, batch by batch."""
        loop = asyncio.get_running_loop()
        try:
            model = await loop.run_in_executor(self._executor, self._open)
            while self._wanted:
                batch = dict(islice(self._wanted.items(), BATCH))
                await loop.run_in_executor(self._executor, self._embed, batch, *model)
                for digest in batch:
                    self._wanted.pop(digest, None)
        except EmbedderUnavailable as fault:
            logger.warning("Tools are searched by words alone: %s", fault)
            # What is not installed does not appear in a running process.
            self._not_before = float("inf")
        except Exception:
            logger.exception("Tools are searched by words alone for a while")
            self._not_before = self._clock() + TRY_AGAIN_AFTER

    def _open(self) -> tuple[Embedder, VectorFile]:
        if self._model is None:
            embedder = self._load()
            # Vectors of another mixture are of no use, so its measure is part of the key.
            kind = f"{embedder.model_id}/{NAME_SHARE:.3f}"
            file = VectorFile(self._path(), kind, embedder.dimensions)
            self._vectors |= file.read()
            self._model = embedder, file
        return self._model

    def _embed(self, batch: Mapping[str, ToolText], embedder: Embedder, file: VectorFile) -> None:
        missing = {digest: text for digest, text in batch.items() if digest not in self._vectors}
        if not missing:
            return
        found = dict(zip(missing, tool_vectors(embedder, list(missing.values())), strict=True))
        self._vectors |= found
        file.add(found)
        for oldest in list(islice(self._vectors, max(0, len(self._vectors) - MOST_VECTORS))):
            del self._vectors[oldest]
