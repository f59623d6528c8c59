"""Which schemas are accepted, and that judging them touches nothing outside."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tools.schemas import SchemaFault, compile_schema, first_line, object_schema_faults

MODERN = "https://json-schema.org/draft/2020-12/schema"


def schema_of(definition: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": definition}, **more}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {}},
        schema_of({"type": "string", "minLength": 1}),
        schema_of({"type": "integer"}, required=["a"], additionalProperties=False),
        schema_of({"prefixItems": [{"type": "string"}]}, **{"$schema": MODERN}),
        schema_of({"type": "string"}, **{"$schema": "http://json-schema.org/draft-07/schema#"}),
        schema_of({"$ref": "#"}),
        schema_of({"$ref": "http://json-schema.org/draft-07/schema#"}),
        schema_of(True),
    ],
)
def test_proper_object_schemas_are_accepted(schema: dict[str, Any]) -> None:
    # S4-004, C03
    assert object_schema_faults(schema) == []


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (None, "Must be a JSON object"),
        ([], "Must be a JSON object"),
        ("{}", "Must be a JSON object"),
        (True, "Must be a JSON object"),
        ({}, '"type": "object"'),
        ({"type": "nope"}, '"type": "object"'),
        ({"type": "array", "properties": {}}, '"type": "object"'),
        ({"type": ["object"], "properties": {}}, '"type": "object"'),
        ({"type": "object"}, '"properties"'),
        ({"type": "object", "properties": []}, '"properties"'),
        (schema_of({"type": "strin"}), "strin"),
        (schema_of({"type": "string", "minLength": -1}), "minimum"),
        (schema_of({"pattern": "("}), "regex"),
        (schema_of({"pattern": "(a{1000}){1000}"}), "regex"),
        (schema_of({}, required="a"), "array"),
        (schema_of({}, required=[1]), "string"),
        (schema_of({"$ref": "#/definitions/none"}), "does not exist"),
        (schema_of({}, **{"$schema": 5}), "string"),
        (schema_of({}, **{"$id": "::: not a uri"}), "uri"),
        (schema_of({"maximum": float("nan")}), "number"),
        ({"type": "object", "properties": {"\ud800": {}}}, "UTF-8"),
        ({"type": "object", "properties": {1: {}}}, "str"),
    ],
)
def test_schemas_that_cannot_describe_arguments_are_refused_with_the_reason(
    schema: Any, reason: str
) -> None:
    # S0-008, S4-004, C03
    faults = object_schema_faults(schema)

    assert len(faults) == 1
    assert reason in faults[0]
    assert "\n" not in faults[0]


def test_draft_7_rules_hold_unless_the_schema_names_2020_12() -> None:
    # C03: prefixItems means nothing in Draft 7, and items may not be an array in 2020-12.
    positions = {"prefixItems": [{"type": "string"}]}
    assert compile_schema(schema_of(positions)).is_valid({"a": [1]})
    assert not compile_schema(schema_of(positions, **{"$schema": MODERN})).is_valid({"a": [1]})
    assert not compile_schema(schema_of(positions, **{"$schema": MODERN + "#"})).is_valid(
        {"a": [1]}
    )
    with pytest.raises(SchemaFault):
        compile_schema(schema_of({"items": [{"type": "string"}]}, **{"$schema": MODERN}))
    assert object_schema_faults(schema_of({"items": [{"type": "string"}]})) == []


def test_formats_are_checked() -> None:
    validator = compile_schema(schema_of({"type": "string", "format": "date"}))

    assert validator.is_valid({"a": "2024-02-29"})
    assert not validator.is_valid({"a": "2023-02-29"})


@pytest.fixture
def listener() -> Any:
    """A server on this machine that would notice a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.mark.parametrize("draft", [{}, {"$schema": MODERN}])
@pytest.mark.parametrize("keyword", ["$ref", "$schema", "$id"])
def test_no_connection_is_made_whatever_a_schema_refers_to(
    listener: socket.socket, draft: dict[str, str], keyword: str
) -> None:
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
    faults = object_schema_faults(schema_of({keyword: address}, **draft))

    if keyword == "$ref":
        assert "references outside the schema are not followed" in faults[0]
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("draft", [{}, {"$schema": MODERN}])
def test_files_are_not_read_whatever_a_schema_refers_to(
    tmp_path: Path, draft: dict[str, str]
) -> None:
    (tmp_path / "other.json").write_text(json.dumps({"type": "integer"}))
    absolute = (tmp_path / "other.json").as_uri()

    for reference in (absolute, "other.json", "../other.json#/x"):
        [fault] = object_schema_faults(schema_of({"$ref": reference}, **draft))
        assert "Not a usable JSON Schema" in fault


def test_a_reference_outside_hidden_in_a_default_check_is_refused_too() -> None:
    [fault] = object_schema_faults(
        schema_of({"anyOf": [{"$ref": "https://example.com/x"}], "default": 1})
    )

    assert "references outside the schema are not followed" in fault


RECURSIVE = [
    schema_of({"$ref": "#"}),
    {**schema_of({"type": "integer"}), "$ref": "#"},
    schema_of({"type": "integer"}, allOf=[{"$ref": "#"}]),
    schema_of(
        {"$ref": "#/definitions/x"},
        definitions={"x": {"$ref": "#/definitions/y"}, "y": {"$ref": "#/definitions/x"}},
    ),
    schema_of(
        {"$ref": "#/$defs/x"},
        **{
            "$schema": MODERN,
            "$defs": {
                "x": {"allOf": [{"$ref": "#/$defs/y"}]},
                "y": {"anyOf": [{"$ref": "#/$defs/x"}]},
            },
        },
    ),
    schema_of({}, **{"$schema": MODERN, "$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}),
]


@pytest.mark.parametrize("schema", RECURSIVE)
def test_schemas_that_refer_to_themselves_end(schema: dict[str, Any]) -> None:
    assert object_schema_faults(schema) == []
    validator = compile_schema(schema)
    instances: list[dict[str, Any]] = [{}, {"a": 1}, {"a": {"a": {"a": {}}}}]
    for instance in instances:
        assert validator.is_valid(instance) == (not list(validator.iter_errors(instance)))


def test_a_schema_nested_too_deeply_is_refused() -> None:
    definition: dict[str, Any] = {"type": "object"}
    for _ in range(400):
        definition = {"not": definition}

    [fault] = object_schema_faults(schema_of(definition))
    assert "Recursion limit" in fault


@pytest.mark.parametrize(
    ("schema", "faults"),
    [
        (schema_of({"type": "integer", "default": 5}), []),
        (
            schema_of({"type": "integer", "default": "five"}),
            ["The default of a is not valid: must be integer"],
        ),
        (
            schema_of({"type": "object", "properties": {"b": {"enum": ["x"], "default": "y"}}}),
            ["The default of a.b is not valid: must be one of x"],
        ),
        (
            schema_of({"items": {"properties": {"b": {"minimum": 5, "default": 1}}}}),
            ["The default of a.b is not valid: must be a number of at least 5"],
        ),
        (
            schema_of(
                {"$ref": "#/definitions/n", "default": -1}, definitions={"n": {"minimum": 0}}
            ),
            ["The default of a is not valid: must be a number of at least 0"],
        ),
        (
            schema_of({"type": "object", "required": ["b"], "default": {}}),
            ["The default of a is not valid: is missing"],
        ),
        (
            {"type": "object", "properties": {"a.b/c~d %": {"maxLength": 1, "default": "xx"}}},
            ["The default of a.b/c~d % is not valid: must be text of at most 1 character"],
        ),
        (
            schema_of({"type": "integer", "default": "x"}, **{"$id": "tool.json"}),
            ["The default of a is not valid: must be integer"],
        ),
        (
            schema_of(
                {"$ref": "#/$defs/n", "default": "x"},
                **{
                    "$schema": MODERN,
                    "$id": "https://example.com/t",
                    "$defs": {"n": {"type": "null"}},
                },
            ),
            ["The default of a is not valid: must be null"],
        ),
        # Required arguments without a default are no fault of the defaults there are.
        (schema_of({"default": 1}, required=["b"]), []),
        # A property that happens to be named default is not a default.
        ({"type": "object", "properties": {"default": {"type": "integer"}}}, []),
    ],
)
def test_defaults_their_own_definition_refuses_are_faults(
    schema: dict[str, Any], faults: list[str]
) -> None:
    assert object_schema_faults(schema) == faults


@pytest.mark.parametrize(
    "definition",
    [
        {"minLength": 3},
        {"enum": ["x"]},
        {"const": "x"},
        {"type": "integer"},
        {"items": {"maxLength": 0}},
        {"uniqueItems": True},
        {"additionalProperties": False},
        {"propertyNames": {"pattern": "x"}},
    ],
)
@pytest.mark.parametrize("value", ["\ud800", ["\ud800", "\ud800"], {"\ud800": 1}])
def test_half_a_surrogate_pair_is_judged_without_an_exception(
    definition: dict[str, Any], value: Any
) -> None:
    validator = compile_schema(schema_of(definition))

    assert validator.is_valid({"a": value}) == (not list(validator.iter_errors({"a": value})))


def test_arguments_nested_too_deeply_to_describe_are_a_fault_and_no_exception() -> None:
    value: Any = {}
    for _ in range(900):
        value = {"a": value}
    validator = compile_schema(schema_of({"type": "string"}))

    assert not validator.is_valid({"a": value})
    assert len(list(validator.iter_errors({"a": value}))) == 1


def test_patterns_that_explode_end() -> None:
    validator = compile_schema(schema_of({"pattern": "^(a|aa)+\\1$"}))

    assert not validator.is_valid({"a": "a" * 60 + "b"})
    assert compile_schema(schema_of({"pattern": "^(a+)+$"})).is_valid({"a": "a" * 5000})


def test_the_first_line_of_a_message_is_for_people() -> None:
    assert first_line("bad\n\nFailed validating …") == "bad"
    assert first_line("  ") == "invalid"
    assert len(first_line("x" * 9000)) == 500
