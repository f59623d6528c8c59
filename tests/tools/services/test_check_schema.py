"""Schemas that are being typed: the same judgement as saving, with the place of each fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import tool_values
from tools.models import Tool
from tools.services.check_schema import check_text, check_tool_schema


def typed(properties: Any, **more: Any) -> str:
    return json.dumps({"type": "object", "properties": properties, **more}, indent=1)


@pytest.mark.parametrize(
    ("text", "told", "pointer"),
    [
        ("[]", "Must be a JSON object.", ""),
        ('{"type": "array"}', 'The root must have "type": "object".', "/type"),
        ('{"type": "object"}', 'The root must have "properties"', "/properties"),
        (typed({"a": {"type": "strin"}}), "Did you mean string?", "/properties/a/type"),
        (typed({"a": {"minimum": "x"}}), '"minimum" must be number', "/properties/a/minimum"),
        (typed({"a": {"pattern": "["}}), "not a regular expression", "/properties/a/pattern"),
        (typed({}, required="a"), "must be a list of names", "/required"),
        (
            typed({"a": {"items": [{"type": "x"}]}}),
            '"x" is no type',
            "/properties/a/items/0/type",
        ),
        (
            typed({"a": {"$ref": "https://example.com/x"}}),
            "would have to be fetched",
            "/properties/a/$ref",
        ),
        (typed({"a": {"$ref": "#/definitions/x"}}), "leads nowhere", "/properties/a/$ref"),
        (
            typed({"a": {"type": "integer", "default": "x"}}),
            "The default of a is not valid: must be integer",
            "/properties/a/default",
        ),
        (
            typed({"a": {"properties": {"b/c": {"type": "null", "default": 1}}}}),
            "The default of a.b/c",
            "/properties/a/properties/b~1c/default",
        ),
        (
            typed({"a": {"type": "object", "x-mcp-header": "X"}}),
            "x-mcp-header is only permitted on",
            "/properties/a/x-mcp-header",
        ),
        (
            '{"type": "object", "properties": {"a": {"default": NaN}}}',
            "must be a finite number",
            "/properties/a/default",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, told: str, pointer: str) -> None:
    checked = check_tool_schema(text, "input_schema")
    assert not checked.sound
    found = [one for one in checked.told if told in one.message]
    assert found, checked.told
    assert found[0].pointer == pointer
    assert found[0].grave
    assert found[0].place is not None


@pytest.mark.parametrize(
    ("text", "told", "line"),
    [
        (typed({"a": {"required": True}}), 'moved to the list "required"', 5),
        (typed({"a-b": {}}), "is no identifier", 4),
        (typed({"a": {"minimun": 1}}), 'Did you mean "minimum"?', 5),
        (typed({}, required=["x"]), "is required, but not among the properties", 5),
        ('{"type": "object",\n"type": "object", "properties": {}}', "written twice", 2),
    ],
)
def test_a_hint_keeps_nothing_from_being_saved(text: str, told: str, line: int) -> None:
    checked = check_tool_schema(text, "input_schema")
    assert checked.sound
    assert [
        (told in one.message, one.grave, one.place and one.place.line) for one in checked.told
    ] == [(True, False, line)]


def test_the_value_is_as_it_would_be_saved() -> None:
    checked = check_tool_schema(typed({"a": {"required": True}}), "input_schema")
    assert checked.value == {"type": "object", "properties": {"a": {}}, "required": ["a"]}


def test_results_need_no_properties_and_may_be_nothing() -> None:
    assert check_tool_schema('{"type": "object"}', "output_schema").sound
    assert check_tool_schema("null", "output_schema").sound
    assert not check_tool_schema('{"type": "array"}', "output_schema").sound


def test_a_very_long_text_is_left_to_saving() -> None:
    checked = check_text("[" * 2_000_000, lambda value: [])
    assert (checked.sound, checked.told[0].grave) == (False, False)


SCHEMAS = st.dictionaries(
    st.sampled_from(["a", "b-c", "ü", ""]),
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "strin", ["integer", "null"], 5]),
            "default": st.sampled_from(["x", 1, None]),
            "required": st.sampled_from([True, False, ["a"], "a"]),
            "$ref": st.sampled_from(["#/properties/a", "#/no", "https://example.com/x", "#"]),
            "x-mcp-header": st.sampled_from(["A", "a b", 5]),
            "pattern": st.sampled_from(["^a$", "["]),
        },
    ),
    max_size=3,
)


@given(SCHEMAS)
def test_the_check_says_what_saving_says(properties: Any) -> None:
    schema = {"type": "object", "properties": properties}
    tool = Tool(**tool_values(name="a", input_schema=schema))
    try:
        tool.full_clean(validate_unique=False, validate_constraints=False)
        saved = True
    except ValidationError:
        saved = False
    checked = check_tool_schema(json.dumps(schema), "input_schema")
    assert checked.sound is saved
    assert any(one.grave for one in checked.told) is not saved
