"""Swagger 2 gives the same tools as OpenAPI 3."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.openapi.documents import imported, only, refusal
from tools.operations import Parameter, Place

FORM = "application/x-www-form-urlencoded"


def swagger(paths: Any, **more: Any) -> dict[str, Any]:
    return {"swagger": "2.0", "info": {"title": "Pets"}, "paths": paths, **more}


def one(*parameters: Any, **more: Any) -> dict[str, Any]:
    return swagger({"/pets": {"post": {"parameters": list(parameters)}}}, **more)


def test_bodies_and_references_are_read() -> None:
    pet = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "twin": {"$ref": "#/definitions/Pet"}},
    }
    shared = {
        "in": "body",
        "name": "pet",
        "required": True,
        "schema": {"$ref": "#/definitions/Pet"},
    }
    operation = only(
        one({"$ref": "#/parameters/Pet"}, definitions={"Pet": pet}, parameters={"Pet": shared})
    )
    assert operation.operation.body_type == "application/json"
    assert operation.input_schema["required"] == ["name"]
    assert operation.input_schema["properties"]["twin"] == {"$ref": "#/$defs/Pet"}


def listed(form: str | None, place: str = "query") -> Parameter:
    node = {"name": "v", "in": place, "type": "array", "items": {"type": "string"}}
    if form is not None:
        node["collectionFormat"] = form
    operation = only(one(node))
    (found,) = operation.operation.parameters
    assert operation.input_schema["properties"]["v"] == {
        "type": "array",
        "items": {"type": "string"},
    }
    return found


@pytest.mark.parametrize(
    ("form", "kept"),
    [
        (None, Parameter("v", "v", Place.QUERY, explode=False)),
        ("csv", Parameter("v", "v", Place.QUERY, explode=False)),
        ("ssv", Parameter("v", "v", Place.QUERY, style="spaceDelimited", explode=False)),
        ("pipes", Parameter("v", "v", Place.QUERY, style="pipeDelimited", explode=False)),
        ("multi", Parameter("v", "v", Place.QUERY, explode=True)),
    ],
)
def test_lists_are_written_as_stated(form: str | None, kept: Parameter) -> None:
    assert listed(form) == kept


def test_lists_in_forms_are_written_as_stated() -> None:
    assert listed("csv", "formData") == Parameter(
        "v", "v", Place.FIELD, style="form", explode=False
    )


def test_lists_parted_by_tabs_are_refused() -> None:
    node = {"name": "v", "in": "query", "type": "array", "collectionFormat": "tsv"}
    assert "tsv" in refusal(one(node))


def test_form_fields_become_arguments() -> None:
    operation = only(
        one(
            {"name": "name", "in": "formData", "type": "string", "required": True},
            {"name": "photo", "in": "formData", "type": "file"},
        )
    )
    assert operation.operation.body_type == "multipart/form-data"
    assert operation.operation.parameters == (Parameter("name", "name", Place.FIELD),)
    assert operation.input_schema["required"] == ["name"]
    plain = only(one({"name": "name", "in": "formData", "type": "string"}, consumes=[FORM]))
    assert plain.operation.body_type == FORM


def test_required_files_are_refused() -> None:
    node = {"name": "photo", "in": "formData", "type": "file", "required": True}
    assert "photo" in refusal(one(node))


@pytest.mark.parametrize(
    ("more", "servers"),
    [
        (
            {"host": "a.example", "basePath": "/v1", "schemes": ["http", "https"]},
            ("https://a.example/v1", "http://a.example/v1"),
        ),
        ({"host": "a.example"}, ("https://a.example",)),
        ({"basePath": "/v1"}, ("/v1",)),
        ({}, ("/",)),
    ],
)
def test_addresses_are_put_together(more: Any, servers: Any) -> None:
    assert imported(swagger({}, **more)).servers == servers


def test_answers_and_credentials_are_read() -> None:
    found = imported(
        swagger(
            {
                "/pets": {
                    "get": {
                        "produces": ["application/hal+json"],
                        "responses": {"200": {"$ref": "#/responses/Pet"}},
                    }
                }
            },
            responses={
                "Pet": {"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}
            },
            securityDefinitions={"user": {"type": "basic"}},
        )
    )
    (operation,) = found.operations
    assert operation.output_schema is not None
    assert operation.operation.accept == "application/hal+json"
    assert [one.kind for one in found.security] == ["basic"]


def test_parameters_with_a_schema_of_their_own_and_broken_answers_are_read() -> None:
    node = {
        "parameters": [{"name": "a", "in": "query", "schema": {"type": "integer"}}],
        "responses": {"200": 5},
    }
    operation = only(swagger({"/pets": {"get": node}}))
    assert operation.input_schema["properties"] == {"a": {"type": "integer"}}
    assert operation.output_schema is None


@pytest.mark.parametrize(
    ("consumes", "kind"),
    [
        (["multipart/form-data"], "multipart/form-data"),
        (["multipart/form-data", FORM], FORM),
        ([], FORM),
    ],
)
def test_forms_are_sent_as_the_operation_takes_them(consumes: list[str], kind: str) -> None:
    field = {"name": "name", "in": "formData", "type": "string"}
    assert only(one(field, consumes=consumes)).operation.body_type == kind


def test_bodies_of_other_types_are_refused() -> None:
    body = {"in": "body", "name": "b", "required": True, "schema": {"type": "object"}}
    assert "application/xml" in refusal(one(body, consumes=["application/xml"]))
    assert (
        only(one(body, consumes=["application/xml", "application/json"])).operation.body_type
        == "application/json"
    )
