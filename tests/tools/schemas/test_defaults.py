"""Defaults are filled in and flags of other dialects are moved to where JSON Schema has them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tools.schemas import compile_schema, fill_defaults, normalise


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_absent_arguments_get_their_default_and_given_ones_stay() -> None:
    schema = schema_of(limit={"default": 10}, query={"type": "string"}, flag={"default": False})

    assert fill_defaults(schema, {}) == {"limit": 10, "flag": False}
    assert fill_defaults(schema, {"limit": 3, "query": "x"}) == {
        "limit": 3,
        "query": "x",
        "flag": False,
    }


def test_the_reference_schema_of_a_rag_tool_behaves_as_documented() -> None:
    # S0-018
    schema = {
        **schema_of(
            query={"type": "string"},
            top_k={"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
        ),
        "required": ["query"],
    }
    validator = compile_schema(schema)

    assert fill_defaults(schema, {"query": "x"}) == {"query": "x", "top_k": 5}
    assert not validator.is_valid(fill_defaults(schema, {}))
    judged = {top_k: validator.is_valid({"query": "x", "top_k": top_k}) for top_k in (0, 1, 50, 51)}
    assert judged == {0: False, 1: True, 50: True, 51: False}


def test_an_explicit_null_is_not_replaced() -> None:
    assert fill_defaults(schema_of(limit={"default": 10}), {"limit": None}) == {"limit": None}


def test_a_default_of_null_is_filled_in() -> None:
    assert fill_defaults(schema_of(a={"default": None}), {}) == {"a": None}


def test_nested_objects_are_completed_when_they_are_there() -> None:
    schema = schema_of(options=schema_of(depth={"default": 2}, inner=schema_of(x={"default": 1})))

    assert fill_defaults(schema, {}) == {}
    assert fill_defaults(schema, {"options": {"inner": {}}}) == {
        "options": {"inner": {"x": 1}, "depth": 2}
    }


def test_objects_in_lists_are_completed() -> None:
    schema = schema_of(
        rows={"type": "array", "items": schema_of(unit={"default": "kg"})},
        grid={"items": {"items": schema_of(n={"default": 0})}},
    )

    filled = fill_defaults(schema, {"rows": [{}, {"unit": "g"}, 5], "grid": [[{}], []]})
    assert filled == {"rows": [{"unit": "kg"}, {"unit": "g"}, 5], "grid": [[{"n": 0}], []]}


@pytest.mark.parametrize("group", ["definitions", "$defs"])
def test_local_references_are_followed(group: str) -> None:
    schema = {
        **schema_of(
            plain={"$ref": f"#/{group}/number"},
            beside={"$ref": f"#/{group}/number", "default": 7},
            chained={"$ref": f"#/{group}/alias"},
            nested={"$ref": f"#/{group}/options"},
            escaped={"$ref": f"#/{group}/odd~1name~0%20x"},
            listed={"$ref": f"#/{group}/choice/anyOf/0"},
        ),
        group: {
            "number": {"type": "integer", "default": 5},
            "alias": {"$ref": f"#/{group}/number"},
            "options": schema_of(depth={"default": 2}),
            "odd/name~ x": {"default": "odd"},
            "choice": {"anyOf": [{"default": "first"}]},
        },
    }

    assert fill_defaults(schema, {"nested": {}}) == {
        "nested": {"depth": 2},
        "plain": 5,
        "beside": 7,
        "chained": 5,
        "escaped": "odd",
        "listed": "first",
    }


@pytest.mark.parametrize(
    "reference",
    ["#/definitions/none", "#/properties/a/b/c", "#/type/x", "https://example.com/x", "#anchor", 5],
)
def test_references_that_lead_nowhere_fill_nothing(reference: Any) -> None:
    assert fill_defaults(schema_of(a={"$ref": reference}), {"b": 1}) == {"b": 1}


def test_a_schema_that_refers_to_itself_is_followed_as_far_as_the_arguments_go() -> None:
    schema = schema_of(child={"$ref": "#"}, size={"default": 1})

    assert fill_defaults(schema, {"child": {"child": {}}}) == {
        "child": {"child": {"size": 1}, "size": 1},
        "size": 1,
    }


def test_defaults_that_contain_their_own_schema_do_not_grow_for_ever() -> None:
    schema = schema_of(left={"$ref": "#", "default": {}}, right={"$ref": "#", "default": {}})

    assert fill_defaults(schema, {}) == {"left": {}, "right": {}}
    assert compile_schema(schema).is_valid(fill_defaults(schema, {}))


def test_references_in_a_circle_end() -> None:
    schema = {
        **schema_of(a={"$ref": "#/definitions/x"}),
        "definitions": {"x": {"$ref": "#/definitions/y"}, "y": {"$ref": "#/definitions/x"}},
    }

    assert fill_defaults(schema, {"a": {}}) == {"a": {}}


def test_arguments_nested_deeper_than_is_followed_stay_as_they_are() -> None:
    schema = schema_of(a={"$ref": "#"}, size={"default": 1})
    arguments: dict[str, Any] = {}
    for _ in range(500):
        arguments = {"a": arguments}

    filled = fill_defaults(schema, arguments)
    deepest = filled
    while "a" in deepest:
        deepest = deepest["a"]
    assert filled["size"] == 1
    assert "size" not in deepest


@pytest.mark.parametrize("schema", [{}, {"properties": []}, schema_of(a=True), schema_of(a="x")])
def test_odd_schemas_fill_nothing(schema: dict[str, Any]) -> None:
    assert fill_defaults(schema, {"b": 1}) == {"b": 1}


def test_neither_the_arguments_nor_the_defaults_of_the_schema_are_shared_or_changed() -> None:
    schema = schema_of(tags={"default": ["x"]}, options=schema_of(n={"default": 1}))
    arguments: dict[str, Any] = {"options": {}}
    before = copy.deepcopy(schema)
    filled = fill_defaults(schema, arguments)
    filled["tags"].append("y")

    assert schema == before
    assert arguments == {"options": {}}


def test_required_flags_move_to_the_list() -> None:
    # T06, S4-008
    flagged = {
        "properties": {
            "lpn_id": {"type": "string", "required": True},
            "page": {"type": "integer", "required": False},
            "size": {"type": "integer"},
        }
    }

    assert normalise(flagged) == {
        "type": "object",
        "properties": {
            "lpn_id": {"type": "string"},
            "page": {"type": "integer"},
            "size": {"type": "integer"},
        },
        "required": ["lpn_id"],
    }


def test_flags_join_an_existing_list_without_repeating() -> None:
    # T06
    schema = {**schema_of(a={"required": True}, b={"required": True}), "required": ["b", "c"]}

    assert normalise(schema)["required"] == ["b", "c", "a"]


def test_flags_in_nested_objects_and_list_items_move_too() -> None:
    # T06
    schema = schema_of(
        where=schema_of(city={"type": "string", "required": True}),
        rows={"type": "array", "items": schema_of(id={"required": True})},
    )
    schema["properties"]["where"]["required"] = True

    result = normalise(schema)
    assert result["required"] == ["where"]
    assert result["properties"]["where"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    assert result["properties"]["rows"]["items"]["required"] == ["id"]
    compile_schema(result)


def test_an_argument_named_required_is_left_alone() -> None:
    # T06
    schema = schema_of(required={"type": "boolean"})

    assert normalise(schema) == schema


def test_a_required_list_of_a_nested_object_is_left_alone() -> None:
    schema = schema_of(where={**schema_of(city={}), "required": ["city"]})

    assert normalise(schema) == schema


def test_missing_type_and_properties_are_added() -> None:
    assert normalise({}) == {"type": "object", "properties": {}}
    assert normalise({"required": True}) == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": True, "b": 5}},
        {"type": "object", "properties": {"a": {}}, "required": "a"},
    ],
)
def test_what_cannot_be_normalised_stays_for_validation_to_refuse(schema: dict[str, Any]) -> None:
    assert normalise(schema) == schema


def test_the_original_is_not_changed() -> None:
    schema = schema_of(a={"required": True}, b=schema_of(c={"required": True}))
    before = copy.deepcopy(schema)
    normalise(schema)

    assert schema == before


def test_schemas_nested_beyond_the_recursion_limit_are_left_alone_below_a_depth() -> None:
    schema: dict[str, Any] = schema_of(x={"required": True})
    for _ in range(3000):
        schema = schema_of(a=schema)

    assert normalise(schema)["type"] == "object"
