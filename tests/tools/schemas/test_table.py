"""A schema as a table."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.schemas.example import example_of
from tools.schemas.table import MOST_ROWS, Row, table_of

# Anything that JSON can hold, under the words that schemas are made of.
WORDS = st.sampled_from(
    [
        *("type", "properties", "items", "anyOf", "oneOf", "allOf", "required", "enum", "$ref"),
        *("default", "minimum", "minLength", "prefixItems", "additionalProperties", "#", "a"),
    ]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.sampled_from(["#", "#/properties/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=25,
)


def rows(properties: dict[str, Any], **more: Any) -> list[Row]:
    return list(table_of({"type": "object", "properties": properties, **more}).rows)


def test_arguments_are_listed_with_type_limits_and_default() -> None:
    found = rows(
        {
            "animal": {"type": "string", "enum": ["sheep", "goat"], "default": "sheep"},
            "n": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many."},
            "name": {"type": "string", "minLength": 1, "maxLength": 20, "format": "email"},
        },
        required=["n"],
    )
    assert found == [
        Row(0, "animal", "text", default='"sheep"', limits=('one of "sheep", "goat"',)),
        Row(0, "n", "whole number", True, "", ("at least 1", "at most 9"), "How many."),
        Row(
            *(0, "name", "text"),
            limits=("at least 1 character", "at most 20 characters", "as email"),
        ),
    ]


def test_what_is_inside_others_is_indented() -> None:
    inner = {"type": "object", "properties": {"k": {"type": "boolean", "required": True}}}
    found = rows({"where": inner, "tags": {"type": "array", "items": inner, "minItems": 2}})
    assert [(row.depth, row.name, row.type, row.required) for row in found] == [
        (0, "where", "object", False),
        (1, "k", "true or false", True),
        (0, "tags", "list of object", False),
        (1, "each item", "object", False),
        (2, "k", "true or false", True),
    ]


def test_choices_are_told_in_words() -> None:
    plain = {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}
    parts = {"oneOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"enum": [1]}]}
    found = rows({"x": plain, "y": parts, "z": {"type": ["integer", "null"]}})
    assert [(row.depth, row.name, row.type, row.limits) for row in found] == [
        (0, "x", "text or nothing", ("text: at most 3 characters",)),
        (0, "y", "object or a choice", ()),
        (1, "either", "object", ()),
        (2, "a", "number", ()),
        (1, "or", "a choice", ("one of 1",)),
        (0, "z", "whole number or nothing", ()),
    ]


def test_references_are_followed_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/definitions/node"}}}
    found = rows({"first": {"$ref": "#/definitions/node"}}, definitions={"node": node})
    assert [(row.depth, row.name) for row in found] == [(0, "first"), (1, "next"), (2, "…")]


def test_a_schema_that_takes_nothing_else_says_so() -> None:
    told = table_of({"type": "object", "properties": {}, "additionalProperties": False})
    assert told.notes == ("Nothing else is taken.",)
    assert told.rows == ()


def test_a_long_schema_is_cut() -> None:
    found = table_of({"properties": {f"a{number}": {} for number in range(MOST_ROWS + 1)}})
    assert len(found.rows) == MOST_ROWS
    assert found.cut


@pytest.mark.parametrize("word", ["allOf", "anyOf", "properties"])
def test_little_text_that_means_a_very_large_schema_is_cut(word: str) -> None:
    def level(number: int) -> Any:
        inner = {"$ref": f"#/definitions/d{number + 1}"}
        if word == "properties":
            names = [f"p{one}" for one in range(9)]
            return {"properties": dict.fromkeys(names, inner), "required": names}
        return {word: [inner] * 9}

    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/d0"}},
        "required": ["a"],
        "definitions": {f"d{number}": level(number) for number in range(30)},
    }
    before = time.process_time()
    assert table_of(schema).cut
    example_of(schema)
    # Without a bound this takes longer than anybody lives.
    assert time.process_time() - before < 20


@pytest.mark.parametrize("limit", [{"minItems": 10**12}, {"minItems": 2.0}])
def test_an_example_of_a_very_long_list_is_a_beginning(limit: dict[str, Any]) -> None:
    assert 0 < len(example_of({"type": "array", "items": {"type": "null"}, **limit})) <= 100
    assert len(example_of({"type": "string", "minLength": 10**12})) == 100


@given(ODD)
def test_nothing_that_calls_itself_a_schema_breaks_the_table(schema: Any) -> None:
    for row in table_of(schema).rows:
        assert isinstance(row.name, str)
