"""Arguments against the schema, and the rule for questions to pipelines."""

from __future__ import annotations

import pytest

from tools.contracts import ToolSource, ToolSpec
from tools.errors import InvalidArguments
from tools.execution.validation import Validators, validate

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "top_k": {"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
    },
    "required": ["query"],
}


def pipeline() -> ToolSpec:
    return ToolSpec("rag_basic", "Basic questions.", SCHEMA, ToolSource.PIPELINE, "basic")


@pytest.mark.parametrize("length", [1, 8000])
def test_a_question_within_the_limits_passes_with_defaults(length: int) -> None:
    # S0-018 S0-021
    filled = validate(pipeline(), {"query": "q" * length}, Validators())
    assert filled == {"query": "q" * length, "top_k": 5}


@pytest.mark.parametrize("query", ["", "   ", "q" * 8001])
def test_a_question_outside_the_limits_is_refused_with_the_limit(query: str) -> None:
    # S0-021 F0-23
    with pytest.raises(InvalidArguments) as refused:
        validate(pipeline(), {"query": query}, Validators())
    details = refused.value.details
    assert details.parameter == "query"
    assert "8000" in str(details.expected)
    assert details.suggestion


@pytest.mark.parametrize("top_k", [0, 51])
def test_numbers_outside_their_range_are_refused(top_k: int) -> None:
    # S0-018
    with pytest.raises(InvalidArguments, match="top_k"):
        validate(pipeline(), {"query": "q", "top_k": top_k}, Validators())


def test_all_faults_are_named_and_the_first_is_explained() -> None:
    with pytest.raises(InvalidArguments) as refused:
        validate(pipeline(), {"top_k": "many"}, Validators())
    assert "query" in refused.value.message
    assert "top_k" in refused.value.message


def test_a_changed_schema_is_compiled_anew() -> None:
    validators = Validators()
    validate(pipeline(), {"query": "q"}, validators)
    strict = {"type": "object", "properties": {}, "additionalProperties": False}
    changed = ToolSpec("rag_basic", "Basic questions.", strict, ToolSource.BUILTIN, "basic")
    with pytest.raises(InvalidArguments):
        validate(changed, {"query": "q"}, validators)
