"""Types of Python and TypeScript from JSON Schemas."""

from __future__ import annotations

from typing import Any

import pytest

from tools.wrappers.naming import Names
from tools.wrappers.python_types import PythonTypes, python_type
from tools.wrappers.schemas import MOST_TYPES, Kind, read
from tools.wrappers.typescript_types import typescript_type, typescript_types

ROOT: dict[str, Any] = {
    "$defs": {
        "Colour": {"enum": ["red", "green", None]},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Ring": {"anyOf": [{"$ref": "#/$defs/Ring"}]},
        "a/b": {"type": "integer"},
    }
}
OBJECT = {"type": "object"}
PLAIN = [
    ({"type": "string"}, "str", "string"),
    ({"type": "integer"}, "int", "number"),
    ({"type": "number"}, "float", "number"),
    ({"type": "boolean"}, "bool", "boolean"),
    ({"type": "array"}, "list[Any]", "unknown[]"),
    (OBJECT, "dict[str, Any]", "Record<string, unknown>"),
    ({}, "Any", "unknown"),
    (True, "Any", "unknown"),
    ({"type": "nonsense"}, "Any", "unknown"),
    ({"type": ["string", "null"]}, "str | None", "string | null"),
    ({"type": ["integer", "string"]}, "int | str", "number | string"),
    ({"type": ["integer", "number"]}, "int | float", "number"),
]
NESTED = [
    ({"type": "array", "items": {"type": "string"}}, "list[str]", "Array<string>"),
    ({"enum": ["a", "b"]}, "Literal['a', 'b']", '"a" | "b"'),
    ({"const": 3}, "Literal[3]", "3"),
    ({"enum": [1.5]}, "float", "number"),
    # mypy takes no larger one in a Literal.
    ({"enum": [2**63 - 1]}, "Literal[9223372036854775807]", "9223372036854775807"),
    ({"enum": [-(2**63)]}, "int", "-9223372036854775808"),
    ({"enum": ["a", 2**64]}, "str | int", '"a" | 18446744073709551616'),
    ({"$ref": "#/$defs/Colour"}, "Literal['red', 'green'] | None", '"red" | "green" | null'),
    ({"$ref": "#/$defs/a~1b"}, "int", "number"),
    ({"$ref": "#/$defs/Loop"}, "Any", "unknown"),
    ({"$ref": "#/$defs/Ring"}, "Any", "unknown"),
    ({"$ref": "http://elsewhere/x"}, "Any", "unknown"),
    ({"allOf": [{"$ref": "#/$defs/a~1b"}]}, "int", "number"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int | None", "number | null"),
    ({"oneOf": [{"type": "integer"}, {"enum": ["x"]}]}, "int | Literal['x']", 'number | "x"'),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        "dict[str, int]",
        "Record<string, number>",
    ),
    (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
        "dict[str, Any]",
        "Record<string, unknown>",
    ),
]


def python(schema: Any) -> str:
    return PythonTypes(Names()).of(schema, ROOT, "Tool argument")


@pytest.mark.parametrize(("schema", "in_python", "in_typescript"), [*PLAIN, *NESTED])
def test_each_schema_has_its_type(schema: Any, in_python: str, in_typescript: str) -> None:
    # F3-17
    assert python(schema) == in_python
    assert typescript_type(schema, ROOT) == in_typescript


@pytest.mark.parametrize(("schema", "in_python", "_"), PLAIN)
def test_the_filter_for_own_templates_knows_plain_types(
    schema: Any, in_python: str, _: str
) -> None:
    assert python_type(schema) == in_python


def test_objects_with_known_keys_are_typed_key_by_key() -> None:
    schema = {
        "type": "object",
        "properties": {"max depth": {"type": "integer"}, "at": {"$ref": "#/$defs/Node"}},
        "required": ["max depth"],
    }
    types = PythonTypes(Names())
    assert types.of(schema, ROOT, "Tool argument") == "ToolArgument"
    assert types.shapes[-1].fields[0] == ("'max depth'", "int")
    assert types.shapes[-1].fields[1][1] == "NotRequired[ToolArgumentAt]"
    # What goes round in circles ends somewhere.
    assert 2 < len(types.shapes) < 10
    assert typescript_type(schema, ROOT).startswith('{ "max depth": number; "at"?: {')


BROAD: dict[str, Any] = {
    "branches": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/branches"}}] * 8},
    "keys": {
        "type": "object",
        "properties": {f"k{n}": {"$ref": "#/$defs/keys"} for n in range(9)},
    },
}


@pytest.mark.parametrize("name", BROAD)
def test_what_refers_to_itself_in_many_places_ends_soon(name: str) -> None:
    root = {
        "$defs": BROAD,
        "properties": {"a": {"$ref": f"#/$defs/{name}"}, "b": {"type": "string"}},
    }
    types = PythonTypes(Names())
    types.of(root["properties"]["a"], root, "Tool argument")
    assert len(types.shapes) <= MOST_TYPES
    written = typescript_types(root)
    assert len(written["a"]) < 100 * MOST_TYPES
    # The plain types of what comes after it are still known.
    assert (types.of({"type": "string"}, root, "b"), written["b"]) == ("str", "string")


def test_long_lists_of_choices_are_only_their_kind() -> None:
    schema = {"type": "string", "enum": [str(number) for number in range(100)]}
    assert read(schema, {}).kind is Kind.STRING
    assert python(schema) == "str"
