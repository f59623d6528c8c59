"""Arguments made from a schema: accepted by it, and the schema's own where it has some."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tools.models import Tool
from tools.schemas.example import example_of
from tools.services.seed_demo import seed_demo
from tools.services.seed_nsip import seed_nsip


def required(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {}),
        (required(a={"type": "string"}), {"a": "text"}),
        (required(a={"type": "string", "default": "x"}), {"a": "x"}),
        (required(a={"type": "string", "examples": ["sheep", "goat"]}), {"a": "sheep"}),
        (required(a={"enum": ["one", "two"]}), {"a": "one"}),
        (required(a={"const": 7}), {"a": 7}),
        (required(a={"type": "integer", "minimum": 3, "maximum": 9}), {"a": 3}),
        (required(a={"type": "integer", "exclusiveMinimum": 0}), {"a": 1}),
        (required(a={"type": "integer", "maximum": -4}), {"a": -4}),
        (required(a={"type": "integer", "minimum": 7, "multipleOf": 5}), {"a": 10}),
        (required(a={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), {"a": 0.5}),
        (required(a={"type": "boolean"}), {"a": False}),
        (required(a={"type": "string", "minLength": 6}), {"a": "textxx"}),
        (required(a={"type": "string", "maxLength": 2}), {"a": "te"}),
        (required(a={"type": "string", "format": "date"}), {"a": "2026-01-31"}),
        (required(a={"type": "array", "items": {"type": "integer"}}), {"a": []}),
        (required(a={"type": "array", "items": {"type": "integer"}, "minItems": 2}), {"a": [1, 1]}),
        (required(a={"type": ["null", "string"]}), {"a": "text"}),
        (required(a={"anyOf": [{"type": "null"}, {"type": "integer"}]}), {"a": 1}),
        (required(a=required(b={"type": "boolean"})), {"a": {"b": False}}),
        (
            {**required(a={"$ref": "#/$defs/Name"}), "$defs": {"Name": {"type": "string"}}},
            {"a": "text"},
        ),
        (
            {"type": "object", "allOf": [required(a={"type": "integer"}), {"required": ["b"]}]},
            {"a": 1, "b": "text"},
        ),
    ],
)
def test_what_is_required_is_filled_in_as_the_schema_says(schema: Any, expected: Any) -> None:
    found = example_of(schema)
    assert found == expected
    assert jsonschema_rs.is_valid(schema, found)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/nowhere/at/all"},
        {"$ref": "https://example.com/schema"},
        {"$ref": 7},
        {"anyOf": []},
        {"type": "object", "required": ["a"]},
        {
            **required(a={"$ref": "#/$defs/Loop"}),
            "$defs": {"Loop": required(b={"$ref": "#/$defs/Loop"})},
        },
        True,
        None,
        "odd",
    ],
)
def test_schemas_that_lead_nowhere_end(schema: Any) -> None:
    example_of(schema)


@pytest.mark.django_db
def test_every_tool_of_the_demo_gets_arguments_that_it_accepts(redis_url: str) -> None:
    seed_demo()
    seed_nsip()
    schemas = dict(Tool.objects.values_list("name", "input_schema"))
    assert len(schemas) > 15
    wrong = [
        name
        for name, schema in schemas.items()
        if not jsonschema_rs.is_valid(schema, example_of(schema))
    ]
    # It wants the id of an answer that there was.
    assert wrong == ["read_result"]
