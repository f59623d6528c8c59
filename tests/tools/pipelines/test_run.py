"""One query from its arguments to its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest

from tests.tools.pipelines.sample import SPEC, Sample, Shelf, Writer
from tools.errors import InvalidArguments, ServiceUnavailable
from tools.pipelines.contracts import (
    BlockUnavailable,
    Generator,
    IndexSpec,
    OpenIndex,
    QueryCancelled,
    Stage,
)
from tools.pipelines.manager import PipelineManager
from tools.pipelines.run import run_query
from tools.techniques import ANSWER_SCHEMA, techniques

REQUEST = "f60c4051-6fca-42d4-b87f-11bf5250fe14"


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(techniques._known, "sample", Sample)


@pytest.fixture
def writers() -> dict[str, Writer]:
    return {}


@pytest.fixture
def manager(writers: dict[str, Writer]) -> PipelineManager:
    def open_index(spec: IndexSpec) -> OpenIndex:
        if spec.number != SPEC.number:
            raise BlockUnavailable("That version is gone")
        return Shelf()  # type: ignore[return-value] # the blocks are not used

    def writer(name: str) -> Generator:
        return writers.setdefault(name, Writer(name))

    return PipelineManager(open_index, writer)


def ask(manager: PipelineManager, **options: Any) -> dict[str, Any]:
    arguments = {"query": "moon?", **options.pop("arguments", {})}
    values: dict[str, Any] = {
        "defaults": {},
        "index": SPEC,
        "max_tokens": 99,
        "request_id": REQUEST,
        "manager": manager,
        **options,
    }
    return run_query("sample", arguments, **values)


def test_answer_has_the_shape_that_the_tools_promise(manager: PipelineManager) -> None:
    # S0-036 S0-037 S0-038 S0-039 S0-044 S0-045 S0-049 S0-050 S0-051
    answer = ask(manager)
    validator = jsonschema_rs.validator_for(dict(ANSWER_SCHEMA), validate_formats=True)
    assert list(validator.iter_errors(json.loads(json.dumps(answer, allow_nan=False)))) == []
    assert answer["response_id"] == REQUEST
    assert answer["retrieved_documents"][0] == {
        "doc_id": "moon#1",
        "content": "Text 1",
        "score": pytest.approx(0.9),
        "metadata": {"source": "b.txt", "title": "The moon"},
    }
    metrics = answer["performance_metrics"]
    assert metrics["tokens_used"] == 5 + 11 + 4
    assert metrics["execution_time_ms"] >= metrics["retrieval_time_ms"]
    assert answer["metadata"] == {
        "low": 0,
        "odds": [None],
        "pipeline_name": "sample",
        "execution_time_ms": metrics["execution_time_ms"],
        "tokens_used": 20,
        "generator": "writer",
        "embedding_model": "granite",
        "index_version": 3,
        "corpus": "moon",
    }


def test_documents_are_the_best_ones_in_order_of_their_scores(manager: PipelineManager) -> None:
    # S0-040 S0-041
    documents = ask(manager, arguments={"top_k": 3})["retrieved_documents"]
    assert [document["doc_id"] for document in documents] == ["moon#1", "moon#2", "moon#5"]
    scores = [document["score"] for document in documents]
    assert scores == sorted(scores, reverse=True)


def test_sources_are_named_once_and_those_that_only_the_answer_cites_too(
    manager: PipelineManager,
) -> None:
    # S0-042 S0-043
    assert ask(manager)["sources"] == [
        "b.txt",
        "a.txt",
        "e.txt",
        "c.txt",
        "https://example.com/moon",
    ]


def test_sources_and_metadata_can_be_left_out(manager: PipelineManager) -> None:
    # S0-023
    answer = ask(manager, arguments={"include_sources": False, "include_metadata": False})
    assert answer["sources"] == []
    assert answer["metadata"] == {"pipeline_name": "sample"}
    assert len(answer["retrieved_documents"]) == 5


@pytest.mark.parametrize(
    ("defaults", "arguments", "found", "low"),
    [
        ({}, {}, 5, 0),
        ({"top_k": 2, "low": 4}, {}, 2, 4),
        ({"top_k": 2, "low": 4}, {"top_k": 3}, 3, 4),
    ],
)
def test_what_the_caller_sends_wins_over_the_operators_defaults(
    manager: PipelineManager,
    defaults: Mapping[str, Any],
    arguments: Mapping[str, Any],
    found: int,
    low: int,
) -> None:
    # S0-057
    answer = ask(manager, defaults=defaults, arguments=arguments)
    assert (len(answer["retrieved_documents"]), answer["metadata"]["low"]) == (found, low)


def test_defaults_choose_the_model_and_the_limit_of_tokens_reaches_it(
    manager: PipelineManager, writers: dict[str, Writer]
) -> None:
    # S0-055 S0-060
    set_up = {"llm_model": "noted", "embedding_model": "sentence-transformers/all-MiniLM-L6-v2"}
    metadata = ask(manager, defaults=set_up, max_tokens=321)["metadata"]
    assert (metadata["generator"], metadata["generator_note"]) == ("noted", "written by hand")
    assert metadata["embedding_model"] == "granite"
    assert writers["noted"].allowed == [321]


@pytest.mark.parametrize(
    ("arguments", "parameter", "told"),
    [
        ({"top_k": 51}, "top_k", "top_k: Input should be less than or equal to 50"),
        ({"rrf_k": 3}, "rrf_k", "rrf_k: Extra inputs are not permitted"),
        ({"low": 5, "high": 4}, None, "low must not be above high"),
    ],
)
def test_parameters_that_do_not_fit_are_named(
    manager: PipelineManager, arguments: Mapping[str, Any], parameter: str | None, told: str
) -> None:
    # F0-03 F0-19
    with pytest.raises(InvalidArguments) as refused:
        ask(manager, arguments=arguments)
    assert (refused.value.message, refused.value.details.parameter) == (told, parameter)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"arguments": {"odd": "block"}}, "The model is not installed here"),
        (
            {"index": IndexSpec(8, "moon", 4, "granite", "1/4")},
            "That version is gone",
        ),
    ],
)
def test_missing_block_makes_the_pipeline_unavailable(
    manager: PipelineManager, changes: Mapping[str, Any], told: str
) -> None:
    with pytest.raises(ServiceUnavailable, match=told) as refused:
        ask(manager, **changes)
    assert refused.value.details.retry_after == 30


def test_stages_are_reported_and_a_query_nobody_waits_for_ends(manager: PipelineManager) -> None:
    told: list[tuple[Stage, str]] = []

    def report(stage: Stage, message: str) -> None:
        told.append((stage, message))
        if stage is Stage.GENERATE:
            raise QueryCancelled

    with pytest.raises(QueryCancelled):
        ask(manager, report=report)
    assert told == [(Stage.RETRIEVE, "Looking"), (Stage.GENERATE, "Writing the answer")]
