"""One pipeline measured on one index with one collection."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tools.pipelines.contracts import Found, OpenIndex, Pipeline, Run
from tools.pipelines.evaluation.datasets import Dataset
from tools.pipelines.evaluation.measures import DEPTH, LEADING, MEASURES, measure
from tools.techniques import Parameters

# Long documents are many passages: so many are ranked at most to come to a hundred documents.
MOST_PASSAGES: Final = 1000


@dataclass(frozen=True, slots=True)
class Measured:
    """Means over the judged queries; latencies are of retrieval alone, in milliseconds."""

    measures: Mapping[str, float]
    per_query: Mapping[str, Mapping[str, float]] = field(repr=False)

    @property
    def leading(self) -> dict[str, float]:
        """The measure that comparisons look at, by query."""
        return {query_id: values[LEADING] for query_id, values in self.per_query.items()}


@dataclass(frozen=True, slots=True)
class Task:
    """What to measure with: a collection, and which of its documents a document of the index is.

    `ids` gives, by the name of a document in the index, the ids it has in the judgements: none, one,
    or several when the collection has the same document twice. `documents` is how many there are.
    """

    dataset: Dataset
    documents: int
    ids: Callable[[str], Sequence[str]] = lambda name: (name,)


def run_pipeline(
    pipeline: Pipeline[Any],
    parameters: Mapping[str, Any],
    run: Run,
    task: Task,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Measured:
    """Rank for every judged query and measure against the judgements."""
    queries, judgements = task.dataset.judged_queries, task.dataset.judgements
    length = len(run.index) / max(task.documents, 1)
    passages = min(MOST_PASSAGES, math.ceil(DEPTH * max(1.0, length)))
    per_query: dict[str, dict[str, float]] = {}
    seconds: list[float] = []
    for number, (query_id, text) in enumerate(queries.items(), start=1):
        asked = pipeline.parameters.model_validate({**parameters, "query": text})
        started = time.perf_counter()
        found = pipeline.rank(text, asked, run, passages)
        seconds.append(time.perf_counter() - started)
        ranking = documents_of(found, run.index, task.ids)
        per_query[query_id] = measure(ranking, judgements[query_id])
        progress(number, len(queries))
    means = {
        name: float(np.mean([values[name] for values in per_query.values()])) for name in MEASURES
    }
    means["p50_ms"], means["p95_ms"] = (
        float(value) for value in np.percentile(np.array(seconds) * 1000, (50, 95))
    )
    return Measured(means, per_query)


def documents_of(
    found: Found, index: OpenIndex, ids: Callable[[str], Sequence[str]] = lambda name: (name,)
) -> list[str]:
    """The documents of these passages, best first: a document is as good as its best passage."""
    order = np.lexsort((np.arange(len(found)), -found.scores))
    names = (index.passage(int(found.rows[place])).document for place in order)
    return list(dict.fromkeys(known for name in names for known in ids(name)))[:DEPTH]


def default_parameters(
    technique: type[Pipeline[Any]], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """All parameters but the query, as a call would get them that says nothing."""
    known: type[Parameters] = technique.parameters
    sendable = {key: value for key, value in defaults.items() if key in known.model_fields}
    return known.model_validate({"query": "?", **sendable}).model_dump(exclude={"query"})
