"""What a pipeline's configuration may be, and the tool that follows from it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from tests.factories import make_corpus, make_pipeline, make_tool
from tests.tools.models.refusals import database_refuses_change, model_refuses
from tools.contracts import ToolSource
from tools.models import PipelineConfig, Tool
from tools.models.pipelines import technique_choices
from tools.techniques import ANSWER_SCHEMA, techniques

pytestmark = pytest.mark.django_db

SIX = ("basic", "basic_rerank", "crag", "graphrag", "pylate_colbert", "iris_global_graphrag")


def pipeline(**overrides: Any) -> PipelineConfig:
    return PipelineConfig(
        **{
            "pipeline_name": "basic",
            "corpus": overrides.get("corpus") or make_corpus(),
            **overrides,
        }
    )


def test_the_registry_has_the_six_techniques() -> None:
    # S0-054 F0-01
    assert set(SIX) <= set(techniques.names())
    assert dict(technique_choices()) == {kind.name: kind.title for kind in techniques}


def test_a_configuration_has_what_the_contract_names() -> None:
    # S0-053 S0-058 S0-059 S0-060 S0-061
    row = make_pipeline()
    assert row.pipeline_name == "basic"
    assert row.default_parameters == {}
    limits = row.resource_limits
    assert (limits.max_concurrent_queries, limits.timeout_seconds, limits.max_tokens) == (
        5,
        30,
        4096,
    )
    assert row.database_connection == make_pipeline(pipeline_name="crag").database_connection


@pytest.mark.parametrize("name", ["", "Basic", "colbert", "rag_basic"])
def test_an_unknown_pipeline_is_refused(name: str) -> None:
    # S0-054
    (told,) = model_refuses(pipeline(pipeline_name=name), "pipeline_name")
    assert "basic_rerank" in told
    assert not Tool.objects.exists()


def test_the_example_of_crag_is_taken() -> None:
    # S0-055 S0-064
    row = make_pipeline(
        pipeline_name="crag",
        default_parameters={
            "top_k": 5,
            "confidence_threshold": 0.8,
            "correction_strategy": "rewrite",
            "embedding_model": "sentence-transformers/all-MiniLM-L6-v2",
            "llm_model": "gpt-4",
        },
        max_concurrent_queries=5,
        timeout_seconds=30,
        max_tokens=4096,
    )
    row.refresh_from_db()
    assert row.default_parameters["llm_model"] == "gpt-4"
    properties = row.tool.input_schema["properties"]
    assert properties["confidence_threshold"]["default"] == 0.8
    assert "embedding_model" not in properties
    assert "llm_model" not in properties


@pytest.mark.parametrize(
    ("name", "defaults", "told"),
    [
        ("crag", {"rrf_k": 60}, "rrf_k"),
        ("crag", {"confidence_threshold": 1.5}, "confidence_threshold"),
        ("crag", {"correction_strategy": "guess"}, "correction_strategy"),
        ("basic", {"top_k": 51}, "top_k"),
        ("basic", {"top_k": "5"}, "top_k"),
        ("basic", {"query": "?"}, "query"),
        ("basic", {"llm_model": 4}, "llm_model"),
    ],
)
def test_defaults_must_suit_the_pipeline(name: str, defaults: dict[str, Any], told: str) -> None:
    # S0-056
    messages = model_refuses(
        pipeline(pipeline_name=name, default_parameters=defaults), "default_parameters"
    )
    assert told in messages[0]
    assert not Tool.objects.exists()


@pytest.mark.parametrize("defaults", [[], "top_k", None, 5])
def test_defaults_are_an_object(defaults: Any) -> None:
    # S0-055
    assert model_refuses(pipeline(default_parameters=defaults), "default_parameters")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_concurrent_queries", 6),
        ("max_concurrent_queries", 0),
        ("timeout_seconds", 61),
        ("timeout_seconds", 0),
    ],
)
def test_limits_outside_their_range_are_refused(field: str, value: int) -> None:
    # S0-058 S0-059
    assert model_refuses(pipeline(**{field: value}), field)
    database_refuses_change(make_pipeline(), **{field: value})


def test_tokens_are_limited_from_below() -> None:
    # S0-060
    assert model_refuses(pipeline(max_tokens=15), "max_tokens")


def test_a_pipeline_brings_its_own_tool() -> None:
    # S0-003 S0-006 S0-011 S0-017 F0-02
    row = make_pipeline(
        default_parameters={"top_k": 7}, max_concurrent_queries=2, timeout_seconds=9
    )
    tool = Tool.objects.get()
    assert tool.pipeline_reference == row
    assert (tool.name, tool.source, tool.handler) == ("rag_basic", ToolSource.PIPELINE, "basic")
    assert "best for" in tool.description
    assert (tool.max_concurrent, tool.timeout_seconds) == (2, 9)
    assert tool.input_schema["properties"]["top_k"]["default"] == 7
    assert tool.output_schema == ANSWER_SCHEMA


def test_a_changed_pipeline_changes_its_tool() -> None:
    row = make_pipeline()
    Tool.objects.filter(pk=row.tool_id).update(title="Ask the handbook")
    row = PipelineConfig.objects.get()
    row.timeout_seconds, row.default_parameters = 5, {"top_k": 3}
    row.save()
    tool = Tool.objects.get()
    assert (tool.timeout_seconds, tool.title) == (5, "Ask the handbook")
    assert tool.input_schema["properties"]["top_k"]["default"] == 3


def test_there_is_one_configuration_for_a_pipeline() -> None:
    # S0-063
    first = make_pipeline()
    with pytest.raises(ValidationError):
        pipeline(corpus=first.corpus).save()
    assert PipelineConfig.objects.count() == Tool.objects.count() == 1


def test_the_tool_goes_with_its_pipeline_and_the_pipeline_with_its_tool() -> None:
    # S0-011 S0-063
    make_pipeline().tool.delete()
    assert not PipelineConfig.objects.exists()
    make_pipeline().delete()
    assert not Tool.objects.exists()


def test_a_name_that_another_tool_has_is_not_taken_over() -> None:
    make_tool(name="rag_basic")
    assert model_refuses(pipeline(), "name")
    assert not PipelineConfig.objects.exists()


def test_the_tool_for_the_web_may_go() -> None:
    search = make_tool()
    row = make_pipeline(web_search_tool=search)
    search.delete()
    row.refresh_from_db()
    assert row.web_search_tool is None
