"""The one place of a process that hands out pipelines, opened indexes, generators and the database.

All are made when first asked for and stay for the life of the process, so that a query finds them
warm, whichever door it came through. Indexes are kept open by whoever opens them.
"""

from __future__ import annotations

import logging
import resource
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from tools.errors import ServiceUnavailable
from tools.pipelines.contracts import Generator, IndexSpec, OpenIndex, Pipeline
from tools.techniques import techniques

logger = logging.getLogger(__name__)


class PipelineManager:
    """The pipelines of this process and what they share."""

    def __init__(
        self,
        open_index: Callable[[IndexSpec], OpenIndex] | None = None,
        generator_for: Callable[[str], Generator] | None = None,
    ) -> None:
        self._open_index = open_index or _open_index
        self._generator_for = generator_for or _generator_for
        self._pipelines: dict[str, Pipeline[Any]] = {}
        self._generators: dict[str, Generator] = {}

    def pipeline(self, name: str) -> Pipeline[Any]:
        """The one instance of a pipeline.

        Raises:
            ServiceUnavailable: when this process does not know it.
        """
        if name not in self._pipelines:
            technique = techniques.get(name)
            if technique is None or not issubclass(technique, Pipeline):
                raise ServiceUnavailable(
                    f"The worker does not know the pipeline {name}",
                    60,
                    "Tell the operator: workers and web processes must be of the same version",
                )
            self._pipelines[name] = technique()
        return self._pipelines[name]

    def index(self, spec: IndexSpec) -> OpenIndex:
        """The index version, open.

        Raises:
            BlockUnavailable: when it cannot be read here.
        """
        return self._open_index(spec)

    def generator(self, llm_model: str) -> Generator:
        """What writes answers; `llm_model` empty: what the deployment says."""
        if llm_model not in self._generators:
            self._generators[llm_model] = self._generator_for(llm_model)
        return self._generators[llm_model]

    def database(self, alias: str = DEFAULT_DB_ALIAS) -> Any:
        """The database connection that pipelines share with everything else in this process."""
        return connections[alias]

    def warm(self, indexes: Iterable[IndexSpec]) -> None:
        """Make what the first queries will need: pipelines, generator, models and indexes.

        What cannot be made now is left to the query that needs it, which then says why.
        """
        started = time.monotonic()
        for name in techniques.names():
            _try(f"pipeline {name}", partial(self.pipeline, name))
        _try("generator", partial(self.generator, ""))
        # Also without an index: the first one may come while this process runs.
        _try("models", _load_models)
        for spec in indexes:
            _try(f"index of {spec.corpus}", partial(self._use, spec))
        logger.info(
            "Pipelines are warm after %.1f s with %d MB of memory",
            time.monotonic() - started,
            memory_bytes() >> 20,
        )

    def _use(self, spec: IndexSpec) -> None:
        """Load the model of an index, and touch what queries search."""
        index = self.index(spec)
        if len(index):
            found = index.vectors.search(index.embed_query("warm"), 1)
            index.lexical.search("warm", 1)
            index.tokens.interact("warm", found.rows)
            index.sentences.scores("warm", found.rows)
            index.graph.coverage("warm", found.rows)
            _ = index.communities.levels


def _try(what: str, work: Callable[[], Any]) -> None:
    try:
        work()
    except Exception:
        logger.exception("Could not warm the %s", what)


@cache
def pipeline_manager() -> PipelineManager:
    """The manager of this process."""
    return PipelineManager()


def memory_bytes() -> int:
    """The most memory this process has used; pages of mapped indexes count as well."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _load_models() -> None:
    from tools.pipelines.blocks.embedder import DEFAULT_MODEL, embedder
    from tools.pipelines.blocks.tokens import token_encoder

    embedder(DEFAULT_MODEL)
    token_encoder()


def _open_index(spec: IndexSpec) -> OpenIndex:
    # Imported late: web processes know pipelines, but never open an index.
    from tools.pipelines.index.open import open_index

    return open_index(spec)


def _generator_for(llm_model: str) -> Generator:
    from tools.pipelines.blocks.generation.choose import generator_for

    return generator_for(llm_model)
