"""Rerankers behind an API: POST /rerank, as Cohere, Jina and vLLM have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tools.pipelines.blocks.endpoints.client import Api, nothing, post, unusable
from tools.pipelines.contracts import Matrix


def rerank(
    api: Api,
    model: str,
    query: str,
    documents: Sequence[str],
    *,
    timeout: float,
    tick: Callable[[], None] = nothing,
) -> Matrix:
    """How well each document answers the query, in the order of the documents.

    Scores of one answer can be compared with each other; their range is the model's own affair.

    Raises:
        EndpointFault: the API did not score them all.
    """
    if not documents:
        return np.empty(0, np.float32)
    payload = {"model": model, "query": query, "documents": list(documents)}
    with post(api, "rerank", payload, timeout=timeout, tick=tick) as answer:
        return _scores(api, answer.json(), len(documents))


def _scores(api: Api, answer: Any, count: int) -> Matrix:
    try:
        found = {row["index"]: row["relevance_score"] for row in answer["results"]}
        scores = np.asarray([found[place] for place in range(count)], dtype=np.float32)
    except (KeyError, TypeError, ValueError):
        raise unusable(api, "it has not one score for each document") from None
    if scores.ndim != 1 or len(found) != count or not np.isfinite(scores).all():
        raise unusable(api, "it has not one score for each document")
    return scores
