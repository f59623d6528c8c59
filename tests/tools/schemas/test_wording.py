"""Each keyword's fault in words its sender can act on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools.schemas import ArgumentFault, compile_schema, describe, shown

MODERN = "https://json-schema.org/draft/2020-12/schema"


def faults(schema: dict[str, Any], arguments: Any) -> list[ArgumentFault]:
    return [describe(error) for error in compile_schema(schema).iter_errors(arguments)]


def fault_of(definition: Any, value: Any, **more: Any) -> ArgumentFault:
    schema = {"type": "object", "properties": {"a": definition}, **more}
    [fault] = faults(schema, {"a": value})
    return fault


@pytest.mark.parametrize(
    ("definition", "value", "expected"),
    [
        ({"type": "integer"}, "x", "integer"),
        ({"type": ["string", "null"]}, 5, "null or string"),
        ({"enum": ["red", 1, None, True]}, "blue", "one of red, 1, null, true"),
        ({"const": 5}, 6, "exactly 5"),
        ({"const": {"x": None}}, 6, 'exactly {"x": null}'),
        ({"minimum": 1}, 0, "a number of at least 1"),
        ({"maximum": 1.5}, 2, "a number of at most 1.5"),
        ({"exclusiveMinimum": 1}, 1, "a number above 1"),
        ({"exclusiveMaximum": 1}, 1, "a number below 1"),
        ({"multipleOf": 5}, 2, "a multiple of 5"),
        ({"minLength": 1}, "", "text of at least 1 character"),
        ({"maxLength": 3}, "abcd", "text of at most 3 characters"),
        ({"minItems": 2}, [1], "a list of at least 2 items"),
        ({"maxItems": 1}, [1, 2], "a list of at most 1 item"),
        ({"items": [{}], "additionalItems": False}, [1, 2], "a list of at most 1 item"),
        ({"uniqueItems": True}, [1, 1], "a list without repeated items"),
        (
            {"contains": {"type": "integer"}},
            ["x"],
            "a list with the right number of items of the required kind",
        ),
        ({"minProperties": 1}, {}, "an object with at least 1 key"),
        ({"maxProperties": 2}, {"x": 1, "y": 2, "z": 3}, "an object with at most 2 keys"),
        ({"pattern": "^a+$"}, "b", "text that matches ^a+$"),
        ({"format": "date"}, "b", "a valid date"),
        ({"not": {"type": "integer"}}, 4, 'anything but a value that fits {"type": "integer"}'),
        (False, 4, "left out"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 4, "string or null"),
        ({"oneOf": [{"type": "string"}, {"minimum": 9}]}, 4, "string or a number of at least 9"),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            4,
            "a value that fits one form only, not several",
        ),
        (
            {"propertyNames": {"pattern": "^a"}},
            {"b": 1},
            "an object whose keys are each text that matches ^a",
        ),
        ({"if": {"type": "integer"}, "then": {"minimum": 5}}, 3, "a number of at least 5"),
        (
            {"contentEncoding": "base64"},
            "***",
            "a value that satisfies contentEncoding",
        ),
    ],
)
def test_each_keyword_says_what_is_expected(definition: Any, value: Any, expected: str) -> None:
    # S4-066, S4-071: every fault carries parameter, expected and suggestion.
    fault = fault_of(definition, value)

    assert fault.parameter == "a"
    assert fault.expected == expected
    assert fault.message == f"must be {expected}"
    assert fault.suggestion == f"Send a as {expected}"


@pytest.mark.parametrize(
    ("definition", "value", "expected"),
    [
        ({"prefixItems": [{}], "items": False}, [1, 2], "left out"),
        ({"unevaluatedItems": False}, [1], "a list without further items"),
        (
            {"contains": {"type": "integer"}, "minContains": 2},
            [1],
            "a list with the right number of items of the required kind",
        ),
        ({"format": "uuid"}, "x", "a valid uuid"),
    ],
)
def test_keywords_of_2020_12_say_what_is_expected(
    definition: dict[str, Any], value: Any, expected: str
) -> None:
    assert fault_of(definition, value, **{"$schema": MODERN}).expected == expected


def test_a_missing_argument_is_named_and_asked_for() -> None:
    [fault] = faults({"type": "object", "properties": {}, "required": ["query"]}, {})

    assert fault == ArgumentFault("query", None, "a value", "Add query", "is missing")


def test_a_missing_argument_of_a_nested_object_is_named_with_its_path() -> None:
    fault = fault_of({"required": ["city"]}, {})

    assert (fault.parameter, fault.suggestion) == ("a.city", "Add a.city")


@pytest.mark.parametrize("keyword", ["dependencies", "dependentRequired"])
def test_an_argument_that_another_one_calls_for_is_named(keyword: str) -> None:
    draft = {"$schema": MODERN} if keyword == "dependentRequired" else {}

    assert fault_of({keyword: {"x": ["y"]}}, {"x": 1}, **draft).parameter == "a.y"


@pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
def test_an_unknown_argument_is_named_and_to_be_left_out(keyword: str) -> None:
    schema = {"type": "object", "properties": {}, keyword: False, "$schema": MODERN}
    [fault] = faults(schema, {"surplus": 1})

    assert fault.parameter == "surplus"
    assert fault.value is None
    assert fault.expected == "no such argument"
    assert fault.suggestion == "Leave out surplus"


def test_a_fault_in_a_list_is_named_with_its_position() -> None:
    assert fault_of({"items": {"type": "string"}}, ["x", 5]).parameter == "a.1"


def test_a_fault_of_the_whole_is_a_fault_of_the_arguments() -> None:
    [fault] = faults({"type": "object", "properties": {}, "minProperties": 1}, {})

    assert fault.parameter == "arguments"


def test_the_message_does_not_repeat_the_value() -> None:
    fault = fault_of({"type": "string", "minLength": 50}, "hunter2")

    assert "hunter2" not in fault.message + fault.suggestion + fault.expected
    assert fault.value == "hunter2"


def test_arguments_that_are_not_text_at_all_are_described() -> None:
    [fault] = faults({"type": "object", "properties": {"a": {"minLength": 9}}}, {"a": "\ud800"})

    assert fault.parameter == "arguments"
    assert fault.expected == "valid Unicode text and not nested too deeply"


def test_long_expectations_are_shortened() -> None:
    fault = fault_of({"enum": [f"option{n}" for n in range(1000)]}, "x")

    assert len(fault.expected) <= 201
    assert fault.expected.startswith("one of option0, option1")


def test_long_names_of_unknown_arguments_are_shortened_in_the_suggestion() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    [fault] = faults(schema, {"x" * 5000: 1})

    assert len(fault.suggestion) < 250


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (2.5, 2.5),
        ("text", "text"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (10**400, "a very large number"),
        ("x" * 500, "x" * 200 + "…"),
        ({"a": [1, None, "é"]}, '{"a": [1, null, "é"]}'),
        ([1] * 500, ("[" + "1, " * 100)[:200] + "…"),
    ],
)
def test_values_are_shown_as_json_and_shortened(value: Any, expected: Any) -> None:
    assert shown(value) == expected
    json.dumps(shown(value), allow_nan=False)


def test_values_that_json_cannot_write_are_shown_as_such() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    circle: list[Any] = []
    circle.append(circle)

    assert shown(deep) == shown(circle) == "a value that cannot be shown"
