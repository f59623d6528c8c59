"""Parameters of all places and styles as arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.openapi.documents import document, only, refusal, with_body, with_parameters
from tools.operations import Parameter, Place

TEXT = {"type": "string"}


def parameter(name: str, place: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **more}


def test_each_place_gives_an_argument() -> None:
    operation = only(
        with_parameters(
            parameter("X-Trace", "header"),
            parameter("session", "cookie"),
            parameter("limit", "query", required=True, description="How many"),
            parameter("id", "path"),
            path="/pets/{id}",
        )
    )
    assert operation.operation.parameters == (
        Parameter("id", "id", Place.PATH),
        Parameter("limit", "limit", Place.QUERY),
        Parameter("X-Trace", "X-Trace", Place.HEADER),
        Parameter("session", "session", Place.COOKIE),
    )
    assert operation.input_schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "id": TEXT,
            "limit": {"type": "string", "description": "How many"},
            "X-Trace": TEXT,
            "session": TEXT,
        },
        "required": ["id", "limit"],
        "additionalProperties": False,
    }


def test_parameters_of_the_operation_win_over_those_of_the_path() -> None:
    path = {
        "parameters": [parameter("a", "query"), parameter("b", "query")],
        "get": {"parameters": [parameter("a", "query", schema={"type": "integer"})]},
    }
    found = only(document({"/pets": path})).input_schema["properties"]
    assert found == {"a": {"type": "integer"}, "b": TEXT}


def test_parameters_and_path_items_may_be_references() -> None:
    components = {
        "parameters": {
            "Limit": parameter("limit", "query"),
            "Same": {"$ref": "#/components/parameters/Limit"},
        },
        "pathItems": {"Pets": {"get": {"parameters": [{"$ref": "#/components/parameters/Same"}]}}},
    }
    path = {"$ref": "#/components/pathItems/Pets"}
    assert list(
        only(document({"/pets": path}, components=components)).input_schema["properties"]
    ) == ["limit"]


@pytest.mark.parametrize(
    ("place", "stated", "kept"),
    [
        ("query", {"style": "deepObject"}, Parameter("v", "v", Place.QUERY, style="deepObject")),
        (
            "query",
            {"style": "form", "explode": False},
            Parameter("v", "v", Place.QUERY, explode=False),
        ),
        (
            "query",
            {"style": "pipeDelimited"},
            Parameter("v", "v", Place.QUERY, style="pipeDelimited"),
        ),
        ("query", {"allowReserved": True}, Parameter("v", "v", Place.QUERY, allow_reserved=True)),
        (
            "path",
            {"style": "matrix", "explode": True},
            Parameter("v", "v", Place.PATH, style="matrix", explode=True),
        ),
        ("path", {"style": "label"}, Parameter("v", "v", Place.PATH, style="label")),
        ("cookie", {"style": "cookie"}, Parameter("v", "v", Place.COOKIE)),
        (
            "query",
            {"schema": None, "content": {"application/json": {"schema": {"type": "object"}}}},
            Parameter("v", "v", Place.QUERY, media_type="application/json"),
        ),
    ],
)
def test_styles_are_kept(place: str, stated: dict[str, Any], kept: Parameter) -> None:
    node = {
        key: value for key, value in parameter("v", place, **stated).items() if value is not None
    }
    path = "/pets/{v}" if place == "path" else "/pets"
    assert only(with_parameters(node, path=path)).operation.parameters == (kept,)


def test_names_that_collide_get_the_place_as_suffix() -> None:
    stated = with_body({"type": "object", "properties": {"id": TEXT, "id_query": TEXT}})
    node = stated["paths"].pop("/pets")
    node["post"]["parameters"] = [parameter("id", "query"), parameter("id", "path")]
    stated["paths"]["/pets/{id}"] = node
    operation = only(stated)
    assert [
        (one.argument, one.name, one.place.value) for one in operation.operation.parameters
    ] == [
        ("id", "id", "path"),
        ("id_query", "id", "query"),
        ("id_body", "id", "field"),
        ("id_query_body", "id_query", "field"),
    ]


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("page.size", "page.size"),
        ("$top", "top"),
        ("filter[name]", "filter_name"),
        ("größe", "groe"),
        ("名前", "arg_7ec262"),
        ("2fa", "_2fa"),
        ("@", "arg_c3641f"),
    ],
)
def test_names_models_cannot_use_are_cleaned(name: str, argument: str) -> None:
    (found,) = only(with_parameters(parameter(name, "query"))).operation.parameters
    assert (found.name, found.argument) == (name, argument)


def test_long_names_are_cut_and_stay_unlike() -> None:
    operation = only(
        with_parameters(parameter("a" * 80 + "1", "query"), parameter("a" * 80 + "2", "query"))
    )
    names = [one.argument for one in operation.operation.parameters]
    assert len(set(names)) == 2
    assert all(len(name) <= 64 for name in names)


def test_headers_that_are_not_for_arguments_are_left_out() -> None:
    names = ("Accept", "content-type", "AUTHORIZATION", "Host", "Content-Length", "Cookie")
    operation = only(with_parameters(*(parameter(name, "header") for name in names)))
    assert operation.operation.parameters == ()


def test_credentials_are_never_asked_of_the_caller() -> None:
    # F4-04
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key"}
    stated = with_parameters(
        parameter("x-key", "header", required=True),
        components={"securitySchemes": {"key": scheme}},
    )
    operation = only(stated)
    assert operation.operation.parameters == ()
    assert "credentials fill it" in operation.warnings[0]


def test_defaults_are_told_and_only_sent_where_the_value_is_required() -> None:
    operation = only(
        with_parameters(
            parameter(
                "limit", "query", schema={"type": "integer", "default": 20}, description="How many."
            ),
            parameter("version", "path", schema={"type": "string", "default": "v1"}),
            parameter("bad", "query", required=True, schema={"type": "integer", "default": "x"}),
            path="/{version}/pets",
        )
    )
    properties = operation.input_schema["properties"]
    assert properties["limit"] == {"type": "integer", "description": "How many. Default: 20"}
    assert properties["version"]["default"] == "v1"
    assert "default" not in properties["bad"]


def test_path_parameters_that_are_not_described_are_texts() -> None:
    operation = only(with_parameters(parameter("other", "path"), path="/pets/{id}"))
    assert operation.operation.parameters == (Parameter("id", "id", Place.PATH),)
    assert len(operation.warnings) == 2


def test_a_query_in_the_path_is_part_of_the_request() -> None:
    operation = only(with_parameters(path="/pets?kind=cat&at={where}#first"))
    assert operation.operation.path == "/pets"
    assert operation.operation.query == {"kind": "cat"}
    assert operation.operation.parameters == (Parameter("at", "at", Place.QUERY),)


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"name": "a", "in": "query", "style": "matrix"}, "style matrix"),
        ({"name": "a b", "in": "header"}, "cannot be the name of a header"),
        ({"name": "a", "in": "querystring", "required": True}, "querystring"),
        ({"in": "query"}, "no name or no place"),
        ({"name": "a"}, "no name or no place"),
        ("a", "not an object"),
        ({"$ref": "#/components/parameters/none"}, "not in the document"),
        ({"$ref": "other.yaml#/limit"}, "only references within the document"),
        ({"$ref": "https://example.com/x.json"}, "only references within the document"),
        ({"name": "a", "in": "query", "schema": {"$ref": "file:///etc/passwd"}}, "only references"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_a_reason(stated: Any, says: str) -> None:
    assert says in refusal(with_parameters(stated))


def test_parameters_in_unknown_places_may_be_left_out() -> None:
    operation = only(with_parameters(parameter("a", "querystring"), parameter("b", "query")))
    assert operation.operation.parameters == (Parameter("b", "b", Place.QUERY),)
    assert "querystring" in operation.warnings[0]


def test_examples_and_deprecation_are_told() -> None:
    stated = (
        parameter("a", "query", example="rex", deprecated=True),
        parameter("b", "query", example="x" * 500),
    )
    assert only(with_parameters(*stated)).input_schema["properties"] == {
        "a": {"type": "string", "examples": ["rex"], "deprecated": True},
        "b": TEXT,
    }


def test_a_default_of_a_referenced_schema_is_told_only() -> None:
    schema = {"$ref": "#/components/schemas/Tree", "default": {"a": 1}}
    tree = {"type": "object", "properties": {"parts": {"$ref": "#/components/schemas/Tree"}}}
    stated = with_parameters(
        parameter("t", "query", required=True, schema=schema),
        components={"schemas": {"Tree": tree}},
    )
    assert only(stated).input_schema["properties"]["t"] == {
        "$ref": "#/$defs/Tree",
        "description": 'Default: {"a":1}',
    }
