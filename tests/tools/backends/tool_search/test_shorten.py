"""Schemas in fewer tokens: what goes, what stays, and that it is said."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tools.backends.tool_search.answer import (
    MOST_TOKENS,
    NO_SUCH_WORDS,
    NOTHING_FOUND,
    SHORTENED,
    answer,
)
from tools.backends.tool_search.ranking import Match
from tools.backends.tool_search.shorten import LAST_STEP, shortened
from tools.context.tokens import count_json
from tools.contracts import ToolSource, ToolSpec

LONG = "It is best to read this with care before anything is sent. " * 10
SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "Arguments",
    "description": "All of it.",
    "properties": {
        # Names that are also keywords for texts: they are parameters and must stay.
        "description": {"type": "string", "description": "A text. " + LONG, "minLength": 2},
        "title": {"type": "string", "examples": ["a"], "default": {"description": "kept"}},
        "address": {
            "type": "object",
            "description": "Where to.",
            "properties": {
                "street": {"type": "string", "description": LONG},
                "kind": {"enum": ["home", "work"], "title": LONG},
            },
            "required": ["street"],
        },
        "lines": {
            "type": "array",
            "items": {"anyOf": [{"$ref": "#/$defs/line"}, {"type": "null", "description": LONG}]},
        },
        "open": True,
    },
    "$defs": {
        "line": {"type": "object", "$comment": LONG, "properties": {"sku": {"minLength": 3}}}
    },
    "required": ["address"],
    "additionalProperties": False,
}
CALLS: list[dict[str, Any]] = [
    {"address": {"street": "Elm 1"}},
    {"address": {}},
    {"address": {"street": "Elm 1", "kind": "boat"}},
    {"address": {"street": "Elm 1"}, "lines": [{"sku": "ab"}]},
    {"address": {"street": "Elm 1"}, "lines": [{"sku": "abc"}, None]},
    {"address": {"street": "Elm 1"}, "description": "x"},
    {"address": {"street": "Elm 1"}, "title": 5},
    {"address": {"street": "Elm 1"}, "more": 1},
]


def entry(schema: dict[str, Any] | None = None, description: str = LONG) -> dict[str, Any]:
    return {"name": "send", "description": description, "input_schema": schema or SCHEMA}


def match(name: str, schema: dict[str, Any], description: str = "Does something.") -> Match:
    return Match(ToolSpec(name, description, schema, ToolSource.HTTP_API, "echo"), 0.5)


def large(parameters: int, words: int = 30) -> dict[str, Any]:
    """A schema with long texts at both levels."""
    inner = {"type": "string", "maxLength": 50, "description": "inner word " * words}
    about = {
        "type": "object",
        "description": "outer word " * words,
        "properties": {"first": inner, "second": inner},
    }
    return {"type": "object", "properties": {f"p{n}": about for n in range(parameters)}}


@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_first_steps_accept_and_refuse_the_same_calls(step: int) -> None:
    short = shortened(entry(), step)
    assert short["schema_shortened"] is True
    before, after = (jsonschema_rs.validator_for(one) for one in (SCHEMA, short["input_schema"]))
    assert [after.is_valid(call) for call in CALLS] == [before.is_valid(call) for call in CALLS]


def test_each_step_takes_fewer_tokens() -> None:
    sizes = [count_json(shortened(entry(), step)) for step in range(LAST_STEP + 1)]
    assert sizes == sorted(set(sizes), reverse=True)


def test_texts_of_nested_parameters_go_first_and_outer_ones_last() -> None:
    nested, cut, none = (shortened(entry(), step)["input_schema"] for step in (1, 2, 3))
    assert nested["properties"]["description"]["description"].endswith(LONG)
    assert "description" not in nested["properties"]["address"]["properties"]["street"]
    assert nested["properties"]["title"]["default"] == {"description": "kept"}
    assert len(cut["properties"]["description"]["description"]) == 100
    assert none["properties"]["description"] == {"type": "string", "minLength": 2}


def test_an_outline_names_the_outer_parameters_and_the_required_ones() -> None:
    assert shortened(entry(), 4)["input_schema"] == {
        "type": "object",
        "properties": {
            "description": {"type": "string"},
            "title": {"type": "string"},
            "address": {"type": "object"},
            "lines": {"type": "array"},
            "open": {},
        },
        "required": ["address"],
    }


def test_the_last_step_keeps_no_schema_and_says_so() -> None:
    short = shortened(entry(), LAST_STEP)
    assert "input_schema" not in short
    assert short["schema_shortened"] is True


def test_a_schema_without_texts_is_not_called_shortened() -> None:
    plain = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for step in (0, 1, 2, 3):
        assert "schema_shortened" not in shortened(entry(plain, "Adds."), step)


def test_small_answers_are_whole() -> None:
    data = answer([match("a", SCHEMA), match("b", SCHEMA)], matching="words", total=2)
    assert [tool["input_schema"] for tool in data["tools"]] == [SCHEMA, SCHEMA]
    assert "note" not in data


def test_a_large_answer_fits_and_the_best_tool_is_shortened_least() -> None:
    schema = large(8)
    matches = [match(f"tool_{number}", schema) for number in range(5)]
    data = answer(matches, matching="words", total=5)
    assert sum(count_json(tool) for tool in data["tools"]) <= MOST_TOKENS
    assert data["note"] == SHORTENED
    sizes = [count_json(tool) for tool in data["tools"]]
    assert sizes == sorted(sizes, reverse=True)
    assert all(tool.get("schema_shortened") for tool in data["tools"][1:])
    for tool in data["tools"]:
        assert tool["input_schema"] == schema or tool["schema_shortened"] is True


def test_twenty_large_tools_fit_too() -> None:
    matches = [match(f"tool_{number}", large(40), LONG) for number in range(20)]
    data = answer(matches, matching="words", total=20)
    assert len(data["tools"]) == 20
    assert sum(count_json(tool) for tool in data["tools"]) <= MOST_TOKENS
    assert all(tool["schema_shortened"] for tool in data["tools"])


def test_a_single_tool_always_comes_whole() -> None:
    schema = large(40)
    data = answer([match("huge", schema)], matching="words", total=7)
    assert count_json(data) > MOST_TOKENS
    assert data["tools"][0]["input_schema"] == schema
    assert "schema_shortened" not in data["tools"][0]


@pytest.mark.parametrize(
    ("matching", "note"), [("words", NO_SUCH_WORDS), ("meaning and words", NOTHING_FOUND)]
)
def test_an_empty_answer_says_what_to_do(matching: str, note: str) -> None:
    empty = {"matching": matching, "tools": [], "total": 0, "note": note}
    assert answer([], matching=matching, total=0) == empty
