"""Schemas of every dialect become JSON Schema 2020-12 that means the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.openapi.documents import accepts, item, only, ref, refusal, with_body, with_schemas

OLD = "3.0.3"


@pytest.mark.parametrize(
    ("stated", "clean"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 1},
        ),
        (
            {"type": "integer", "maximum": 9, "exclusiveMaximum": False},
            {"type": "integer", "maximum": 9},
        ),
        ({"type": "string", "example": "rex"}, {"type": "string", "examples": ["rex"]}),
        ({"type": "string", "xml": {}, "x-own": 1, "title": "T"}, {"type": "string"}),
        (
            {"type": "array", "items": [{"type": "string"}]},
            {"type": "array", "prefixItems": [{"type": "string"}]},
        ),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "datetime"}, {"type": "string", "format": "date-time"}),
        ({"type": "any"}, {}),
        ({"type": "string", "enum": [1, 2]}, {"type": "string", "enum": ["1", "2"]}),
        ({"type": "string", "enum": ["a", "a"]}, {"type": "string", "enum": ["a"]}),
        ({"type": "string", "minLength": 1.0}, {"type": "string", "minLength": 1}),
        ({"not": {"type": "null"}}, {"not": {"type": "null"}}),
        (
            {
                "oneOf": [{"type": "string"}, {"type": "integer"}],
                "discriminator": {"propertyName": "k"},
            },
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            {"allOf": [{"type": "string"}], "nullable": True},
            {"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        ({"type": "integer", "default": 5}, {"type": "integer", "description": "Default: 5"}),
        (True, True),
    ],
)
def test_each_dialect_becomes_the_one(stated: Any, clean: Any) -> None:
    # S4-004
    assert item(only(with_schemas(stated, OLD))) == clean


@pytest.mark.parametrize(
    "stated",
    [
        {"pattern": "(", "type": "string"},
        {"minLength": -1, "type": "string"},
        {"multipleOf": 0, "type": "string"},
        {"enum": [], "type": "string"},
        {"allOf": {}, "type": "string"},
        {"maximum": "9", "type": "string"},
        {"patternProperties": {"(": {}}, "type": "string"},
    ],
)
def test_keywords_that_cannot_be_used_are_left_out_and_told(stated: Any) -> None:
    operation = only(with_schemas(stated))
    found = item(operation)
    found.pop("patternProperties", None)
    assert found == {"type": "string"}
    assert "that cannot be used was left out" in operation.warnings[0]


def test_unknown_types_accept_everything_and_are_told() -> None:
    operation = only(with_schemas({"type": "quux"}))
    assert item(operation) == {}
    assert operation.warnings == ("The type 'quux' is not known and was left out.",)


def test_required_flags_inside_properties_move_to_the_list() -> None:
    # T06
    schema = {"type": "object", "properties": {"a": {"type": "string", "required": True}}}
    assert item(only(with_schemas(schema)))["required"] == ["a"]


def test_recursive_schemas_become_definitions() -> None:
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "parts": {"type": "array", "items": ref("Tree")},
        },
    }
    operation = only(with_schemas(ref("Tree"), Tree=tree))
    assert operation.input_schema["properties"]["body"]["items"] == {"$ref": "#/$defs/Tree"}
    assert list(operation.input_schema["$defs"]) == ["Tree"]
    assert accepts(operation, {"body": [{"name": "a", "parts": [{"name": "b", "parts": []}]}]})
    assert not accepts(operation, {"body": [{"parts": [{"parts": [{"name": 1}]}]}]})


def test_small_schemas_are_inlined_with_what_stands_beside_the_reference() -> None:
    stated = {**ref("Kind"), "description": "Which kind"}
    operation = only(with_schemas(stated, Kind={"type": "string", "enum": ["cat", "dog"]}))
    assert "$defs" not in operation.input_schema
    assert item(operation) == {
        "type": "string",
        "enum": ["cat", "dog"],
        "description": "Which kind",
    }


def test_references_to_any_place_of_the_document_are_followed() -> None:
    stated = {"$ref": "#/components/schemas/Odd~1na%20me/properties/first"}
    schemas = {"Odd/na me": {"properties": {"first": {"type": "integer"}}}}
    assert item(only(with_schemas(stated, **schemas))) == {"type": "integer"}


def test_names_of_large_definitions_are_clean_and_unlike() -> None:
    long = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(50)}}
    both = {"anyOf": [ref("A b"), ref("A_b"), ref("A b"), ref("A_b")]}
    schemas = {"A b": long, "A_b": {**long, "maxProperties": 3}}
    definitions = only(with_schemas(both, **schemas)).input_schema["$defs"]
    assert "A_b" in definitions
    assert len(definitions) == 2
    assert all(name.replace("_", "").isalnum() for name in definitions)


def test_a_base_that_lists_its_kinds_stays_usable() -> None:
    kind = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}

    def variant(field: str) -> dict[str, Any]:
        own = {"type": "object", "required": [field], "properties": {field: {"type": "boolean"}}}
        return {"allOf": [ref("Pet"), own]}

    pet = {**kind, "oneOf": [ref("Cat"), ref("Dog")]}
    operation = only(with_schemas(ref("Pet"), Pet=pet, Cat=variant("purrs"), Dog=variant("barks")))
    assert accepts(operation, {"body": [{"kind": "cat", "purrs": True}]})
    assert not accepts(operation, {"body": [{"kind": "cat"}]})
    assert not accepts(operation, {"body": [{"purrs": True}]})


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": ref("A")},
        {"A": ref("B"), "B": ref("A")},
        {"A": {"allOf": [ref("A")]}},
        {"A": {"anyOf": [ref("B")]}, "B": {"oneOf": [ref("A"), {"not": ref("B")}]}},
        {"A": {"if": ref("A"), "then": ref("A")}},
        {"A": {"allOf": [{"anyOf": [ref("A")]}]}},
    ],
)
def test_schemas_that_include_themselves_come_to_an_end(schemas: Any) -> None:
    operation = only(with_schemas(ref("A"), **schemas))
    assert accepts(operation, {"body": [1]})
    assert "includes itself" in operation.warnings[0]


def test_read_only_properties_are_not_asked_for() -> None:
    number = {"type": "integer", "readOnly": True}
    schema = {
        "type": "object",
        "required": ["id", "number", "name"],
        "properties": {"id": ref("Id"), "number": number, "name": {"type": "string"}},
    }
    stated = with_body(schema, components={"schemas": {"Id": number}})
    operation = only(stated)
    assert list(operation.input_schema["properties"]) == ["name"]
    assert operation.input_schema["required"] == ["name"]


def test_very_large_schemas_are_left_open_inside() -> None:
    def level(number: int) -> dict[str, Any]:
        fields = {f"field_{number}_{n}": {"type": "string"} for n in range(100)}
        return {"type": "object", "properties": {**fields, "next": ref(f"L{number + 1}")}}

    schemas = {f"L{number}": level(number) for number in range(50)}
    operation = only(with_schemas(ref("L0"), **schemas, L50={"type": "string"}))
    assert len(str(operation.input_schema)) < 60_000
    assert accepts(operation, {"body": [{"next": {"next": {"field_2_1": "x"}}}]})
    assert not accepts(operation, {"body": [{"next": {"field_1_1": 1}}]})
    assert operation.warnings == ("The schema is very large; its innermost parts were left open.",)


@pytest.mark.parametrize(
    ("stated", "clean"),
    [
        ({"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        ({"dependentRequired": ["a"]}, {}),
        ({"maxItems": 1.5}, {}),
        ({"type": []}, {}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer"]}),
        ({"examples": "x"}, {}),
        ({"properties": {"a": 5}}, {"properties": {"a": {}}}),
        ({"const": None}, {"const": None}),
    ],
)
def test_keywords_of_later_drafts_are_kept_when_sound(stated: Any, clean: Any) -> None:
    # S4-004
    assert item(only(with_schemas(stated))) == clean


def test_what_stands_beside_a_reference_and_contradicts_it_holds_too() -> None:
    stated = {**ref("Short"), "maxLength": 3}
    operation = only(with_schemas(stated, Short={"type": "string", "maxLength": 5}))
    assert accepts(operation, {"body": ["abc"]})
    assert not accepts(operation, {"body": ["abcd"]})


def test_a_base_keeps_what_it_includes_itself() -> None:
    thing = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    pet = {"allOf": [ref("Thing")], "anyOf": [ref("Cat")]}
    cat = {"allOf": [ref("Pet"), {"required": ["purrs"]}]}
    operation = only(with_schemas(ref("Cat"), Thing=thing, Pet=pet, Cat=cat))
    assert accepts(operation, {"body": [{"id": 1, "purrs": True}]})
    assert not accepts(operation, {"body": [{"purrs": True}]})
    assert not accepts(operation, {"body": [{"id": 1}]})


def test_references_into_lists_are_followed_or_lead_nowhere() -> None:
    both = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    stated = with_schemas({"$ref": "#/components/schemas/Both/anyOf/1"}, Both=both)
    assert item(only(stated)) == {"type": "integer"}
    for step in ("2", "x", "-1"):
        beyond = {"$ref": f"#/components/schemas/Both/anyOf/{step}"}
        assert "not in the document" in refusal(with_schemas(beyond, Both=both))
