"""Documents made to hurt: every one ends quickly, as a fault, a refusal or sound tools."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.openapi.documents import document, imported, ref, refusal, with_schemas
from tools.openapi import DocumentFault, ImportedOperation, operations, read_document
from tools.schemas import object_schema_faults


def test_ten_thousand_operations_of_one_name_each_get_their_own() -> None:
    found = imported(document({f"/p{n}": {"get": {"operationId": "same"}} for n in range(10_000)}))
    assert len({one.name for one in found.operations}) == 10_000


@pytest.mark.parametrize(
    ("schemas", "says"),
    [
        (
            {f"S{n}": {"allOf": [ref(f"S{n + 1}")] * 3} for n in range(50)},
            "includes others too many times",
        ),
        (
            {f"S{n}": {"allOf": [ref(f"S{n + 1}")]} for n in range(5_000)},
            "includes too many others",
        ),
        ({f"S{n}": ref(f"S{n + 1}") for n in range(5_000)}, "includes too many others"),
    ],
)
def test_schemas_that_multiply_are_refused(schemas: dict[str, Any], says: str) -> None:
    end = {f"S{len(schemas)}": {"type": "string"}}
    assert says in refusal(with_schemas(ref("S0"), **schemas, **end))


def test_a_thousand_schemas_that_all_include_each_other_come_to_an_end() -> None:
    every = [ref(f"S{n}") for n in range(100)]
    found = imported(with_schemas(ref("S0"), **{f"S{n}": {"anyOf": every} for n in range(100)}))
    assert len(found.operations) == 1


def test_unicode_everywhere_gives_usable_names() -> None:
    node = {
        "operationId": "ünï—cödé 🐈",
        "parameters": [{"name": "🐈", "in": "query"}, {"name": "{日本}", "in": "query"}],
    }
    (operation,) = imported(document({"/猫/{ид}": {"get": node}})).operations
    assert operation.name == "unicode"
    assert all(name.isascii() for name in operation.input_schema["properties"])
    assert [one.name for one in operation.operation.parameters] == ["ид", "🐈", "{日本}"]


KEYS = st.sampled_from(
    [
        *(
            "get",
            "post",
            "parameters",
            "requestBody",
            "content",
            "application/json",
            "schema",
            "$ref",
        ),
        *(
            "name",
            "in",
            "required",
            "type",
            "properties",
            "items",
            "allOf",
            "oneOf",
            "anyOf",
            "not",
        ),
        *("enum", "default", "nullable", "minimum", "pattern", "format", "additionalProperties"),
        *(
            "servers",
            "url",
            "variables",
            "responses",
            "200",
            "security",
            "tags",
            "style",
            "explode",
        ),
        *("multipart/form-data", "text/plain", "encoding", "operationId", "description", "summary"),
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(
        [
            *(
                "#/components/schemas/A",
                "#/components/schemas/B",
                "#/paths",
                "#",
                "x.json",
                "query",
            ),
            *("path", "header", "body", "formData", "object", "array", "string", "file", "id"),
        ]
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=6)),
    max_leaves=25,
)


def check(stated: Any) -> None:
    try:
        found = operations(read_document(json.dumps(stated)))
    except DocumentFault:
        return
    names = [one.name for one in found.operations]
    assert len(set(names)) == len(names)
    for one in found.operations:
        assert object_schema_faults(one.input_schema) == []
        assert one.name.isidentifier()
        assert len(one.name) <= 64
        assert len(one.description.strip()) >= 10
        arguments = [parameter.argument for parameter in one.operation.parameters]
        assert sorted(arguments) == sorted(one.input_schema["properties"])
        assert ImportedOperation.from_json(json.loads(json.dumps(one.to_json()))) == one


@settings(max_examples=150, deadline=None)
@given(TREES, TREES, TREES, st.sampled_from(["3.0.0", "3.1.0", "3.2.0"]))
def test_any_values_in_any_place_give_sound_tools_or_reasons(
    path: Any, a: Any, b: Any, version: str
) -> None:
    # S4-004
    body = {"required": True, "content": {"application/json": {"schema": a}}}
    paths = {"/a/{id}": path, "/b": {"post": {"requestBody": body}}, "/c": {"get": path}}
    check(document(paths, version, components={"schemas": {"A": a, "B": b}}))


@settings(max_examples=100, deadline=None)
@given(TREES, TREES)
def test_any_values_in_swagger_give_sound_tools_or_reasons(parameter: Any, schema: Any) -> None:
    # S4-004
    body = {"in": "body", "name": "b", "schema": schema}
    node = {"parameters": [parameter, body], "responses": {"200": {"schema": schema}}}
    check(
        {
            "swagger": "2.0",
            "paths": {"/a": {"post": node}, "/b": parameter},
            "definitions": {"A": schema},
        }
    )


@settings(max_examples=100, deadline=None)
@given(TREES, st.sampled_from(["paths", "components", "info", "servers", "security", "openapi"]))
def test_any_value_at_the_top_is_taken_or_refused(value: Any, key: str) -> None:
    check({**document({"/a": {"get": {}}}), key: value})


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=60), st.binary(max_size=60)))
def test_any_text_is_a_document_or_a_fault(text: Any) -> None:
    with suppress(DocumentFault):
        assert read_document(text).version[0] in "23"
