"""One query from its arguments to its answer, in the shape that every technique answers in."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from tools.errors import ErrorDetails, InvalidArguments, ServiceUnavailable
from tools.pipelines.contracts import (
    BlockUnavailable,
    Draft,
    Found,
    IndexSpec,
    OpenIndex,
    Pipeline,
    Run,
    Stage,
)
from tools.pipelines.manager import PipelineManager, pipeline_manager
from tools.techniques import SET_UP_KEYS, Parameters

BLOCK_RETRY_SECONDS: Final = 30


def run_query(
    pipeline_name: str,
    arguments: Mapping[str, Any],
    *,
    defaults: Mapping[str, Any],
    index: IndexSpec,
    max_tokens: int,
    request_id: str,
    report: Callable[[Stage, str], None] = lambda stage, message: None,
    call_tool: Callable[[str, Mapping[str, Any]], Any] | None = None,
    web_search_tool: str = "",
    deadline: float = math.inf,
    manager: PipelineManager | None = None,
) -> dict[str, Any]:
    """The answer to a query, as `ANSWER_SCHEMA` says.

    What the caller sent wins over the operator's defaults, and those over the technique's own.
    `deadline` is when the answer must be there, by `time.monotonic()`.

    Raises:
        InvalidArguments: for parameters that the technique does not take.
        ServiceUnavailable: when something that it needs cannot be had now.
        QueryCancelled: when `report` says that nobody waits any more.
    """
    started = time.perf_counter()
    manager = manager or pipeline_manager()
    pipeline = manager.pipeline(pipeline_name)
    parameters = parameters_of(pipeline, arguments, defaults)
    try:
        run = Run(
            index=manager.index(index),
            generator=manager.generator(str(defaults.get("llm_model", ""))),
            max_tokens=max_tokens,
            report=report,
            call_tool=call_tool,
            web_search_tool=web_search_tool,
            deadline=deadline,
        )
        return {**_answer(pipeline, parameters, run, started), "response_id": request_id}
    except BlockUnavailable as fault:
        raise ServiceUnavailable(str(fault), BLOCK_RETRY_SECONDS) from fault


def _answer(
    pipeline: Pipeline[Any], parameters: Parameters, run: Run, started: float
) -> dict[str, Any]:
    began = time.perf_counter()
    retrieval = pipeline.retrieve(parameters.query, parameters, run)
    retrieved = time.perf_counter()
    run.report(Stage.GENERATE, "Writing the answer")
    draft = pipeline.generate(parameters.query, parameters, retrieval, run)
    generated = time.perf_counter()
    documents = _documents(retrieval.found, run.index, parameters.top_k)
    metrics = {
        "execution_time_ms": _milliseconds(started, time.perf_counter()),
        "retrieval_time_ms": _milliseconds(began, retrieved),
        "generation_time_ms": _milliseconds(retrieved, generated),
        "tokens_used": int(retrieval.tokens + draft.usage.total),
    }
    metadata: dict[str, Any] = {"pipeline_name": pipeline.name}
    if parameters.include_metadata:
        told: dict[str, Any] = plain(dict(pipeline.tell(parameters, retrieval, draft)))
        metadata = {**told, **metadata, **_common(run.index.spec, draft, metrics)}
    return {
        "answer": draft.text,
        "retrieved_documents": documents,
        "sources": _sources(documents, draft) if parameters.include_sources else [],
        "metadata": metadata,
        "performance_metrics": metrics,
    }


def parameters_of(
    pipeline: Pipeline[Any], arguments: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Parameters:
    """The parameters of a query.

    Raises:
        InvalidArguments: naming the parameter that is not as it should be.
    """
    sendable = {key: value for key, value in defaults.items() if key not in SET_UP_KEYS}
    try:
        return pipeline.parameters.model_validate({**sendable, **arguments})
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or None
        message = first["msg"].removeprefix("Value error, ")
        raise InvalidArguments(
            f"{place}: {message}" if place else message,
            ErrorDetails(parameter=place, value=_shown(first.get("input")), expected=message),
        ) from fault


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else None


def _documents(found: Found, index: OpenIndex, most: int) -> list[dict[str, Any]]:
    """The passages as documents of an answer, best first."""
    scores = np.nan_to_num(np.asarray(found.scores, dtype=np.float64), posinf=0.0, neginf=0.0)
    order = np.argsort(-scores, kind="stable")[:most]
    return [_document(index, int(found.rows[place]), float(scores[place])) for place in order]


def _document(index: OpenIndex, row: int, score: float) -> dict[str, Any]:
    passage = index.passage(row)
    about = {"source": passage.document, **passage.metadata}
    if passage.title:
        about.setdefault("title", passage.title)
    return {
        "doc_id": passage.passage_id,
        "content": passage.text,
        "score": score,
        "metadata": plain(about),
    }


def _sources(documents: list[dict[str, Any]], draft: Draft) -> list[str]:
    """Where the passages are from, and what else the answer cites; each once, in that order."""
    named = [str(document["metadata"]["source"]) for document in documents]
    named += [citation.source for citation in draft.citations]
    return list(dict.fromkeys(name for name in named if name))


def _common(spec: IndexSpec, draft: Draft, metrics: Mapping[str, int]) -> dict[str, Any]:
    """What the metadata of every technique tells."""
    return {
        "execution_time_ms": metrics["execution_time_ms"],
        "tokens_used": metrics["tokens_used"],
        "generator": draft.generator,
        "embedding_model": spec.embedding_model,
        "index_version": spec.number,
        "corpus": spec.corpus,
        **({"generator_note": draft.note} if draft.note else {}),
    }


def plain(value: Any) -> Any:
    """`value` as JSON takes it: numbers of numpy become plain ones, what is no number null."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)


def _milliseconds(start: float, end: float) -> int:
    return max(0, round((end - start) * 1000))
