"""Request bodies as arguments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.openapi.documents import JSON, accepts, document, only, ref, refusal, with_body
from tools.operations import Parameter, Place

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
PET: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
}
FILE = {"type": "string", "format": "binary"}


def test_fields_of_an_object_become_arguments() -> None:
    operation = only(with_body(ref("Pet"), components={"schemas": {"Pet": PET}}))
    assert operation.operation.body_type == JSON
    assert operation.operation.parameters == (
        Parameter("name", "name", Place.FIELD),
        Parameter("age", "age", Place.FIELD),
    )
    assert operation.input_schema["required"] == ["name"]


def test_objects_made_of_several_are_flattened_too() -> None:
    aged = {"type": "object", "properties": {"born": {"type": "string"}}}
    operation = only(with_body({"allOf": [PET, aged]}))
    assert list(operation.input_schema["properties"]) == ["name", "age", "born"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": PET},
        {"oneOf": [PET, {"type": "string"}]},
        {**PET, "additionalProperties": {"type": "string"}},
        {**PET, "minProperties": 2},
        {"type": "object"},
        {"type": "object", "properties": {f"p{n}": {} for n in range(41)}},
        {"allOf": [PET, {"properties": {"name": {"maxLength": 3}}}]},
        {},
    ],
)
def test_other_bodies_are_one_argument(schema: Any) -> None:
    operation = only(with_body(schema))
    assert operation.operation.parameters == (Parameter("body", "body", Place.BODY),)
    assert operation.input_schema["required"] == ["body"]


def test_a_body_that_may_be_left_out_is_whole_when_it_asks_for_fields() -> None:
    operation = only(with_body(PET, required=False))
    assert accepts(operation, {})
    assert accepts(operation, {"body": {"name": "Rex"}})
    assert not accepts(operation, {"body": {"age": 3}})


def test_json_is_preferred_and_its_kinds_are_kept() -> None:
    content = {FORM: {"schema": {}}, "application/merge-patch+json": {"schema": PET}}
    stated = document({"/pets": {"patch": {"requestBody": {"required": True, "content": content}}}})
    assert only(stated).operation.body_type == "application/merge-patch+json"
    assert only(with_body(PET, media="*/*")).operation.body_type == JSON


def test_fields_of_forms_keep_how_they_are_written() -> None:
    stated = with_body(PET, media=FORM)
    media = stated["paths"]["/pets"]["post"]["requestBody"]["content"][FORM]
    media["encoding"] = {
        "age": {"style": "deepObject", "explode": True},
        "name": {"contentType": JSON},
    }
    operation = only(stated)
    assert operation.operation.body_type == FORM
    assert operation.operation.parameters == (
        Parameter("name", "name", Place.FIELD, media_type=JSON),
        Parameter("age", "age", Place.FIELD, style="deepObject", explode=True),
    )


def test_files_that_may_be_left_out_are() -> None:
    fields = {**PET["properties"], "photo": ref("File"), "more": {"type": "array", "items": FILE}}
    stated = with_body(
        {**PET, "properties": fields}, media=MULTIPART, components={"schemas": {"File": FILE}}
    )
    operation = only(stated)
    assert list(operation.input_schema["properties"]) == ["name", "age"]
    assert len(operation.warnings) == 2


def test_text_is_one_argument() -> None:
    operation = only(with_body({}, media="text/plain"))
    assert operation.input_schema["properties"] == {"body": {"type": "string"}}
    assert operation.operation.body_type == "text/plain"


@pytest.mark.parametrize(
    ("schema", "media", "says"),
    [
        (
            {"type": "object", "required": ["f"], "properties": {"f": FILE}},
            MULTIPART,
            "bytes of a file as f",
        ),
        (
            {
                "type": "object",
                "required": ["f"],
                "properties": {"f": {"contentMediaType": "image/png"}},
            },
            MULTIPART,
            "bytes of a file as f",
        ),
        (FILE, "application/octet-stream", "application/octet-stream"),
        (PET, "application/xml", "application/xml"),
        ({"type": "array"}, FORM, "not described"),
        ({"$ref": "pet.json"}, JSON, "only references within the document"),
        ({"$dynamicRef": "#node"}, JSON, "$dynamicRef"),
        ({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}, JSON, "#/nowhere"),
    ],
)
def test_bodies_that_cannot_be_sent_are_refused_with_a_reason(
    schema: Any, media: str, says: str
) -> None:
    assert says in refusal(with_body(schema, media=media))


def test_a_body_that_cannot_be_sent_but_may_be_left_out_is_left_out() -> None:
    operation = only(with_body(PET, media="application/xml", required=False))
    assert operation.operation.parameters == ()
    assert "application/xml" in operation.warnings[0]


def test_request_bodies_may_be_references() -> None:
    components = {"requestBodies": {"Pet": {"required": True, "content": {JSON: {"schema": PET}}}}}
    path = {"post": {"requestBody": {"$ref": "#/components/requestBodies/Pet"}}}
    assert list(
        only(document({"/pets": path}, components=components)).input_schema["properties"]
    ) == ["name", "age"]


def test_a_form_without_described_fields_may_be_left_out() -> None:
    operation = only(with_body({"type": "array"}, media=FORM, required=False))
    assert operation.operation.body_type == ""
    assert operation.warnings == ("The form was left out: its fields are not described.",)
    assert only(with_body({"type": "object"}, media=FORM)).operation.body_type == ""


def test_methods_without_a_body_get_none() -> None:
    body = {"content": {JSON: {"schema": PET}}}
    operation = only(document({"/pets": {"head": {"requestBody": body}}}))
    assert operation.operation.parameters == ()
    assert operation.warnings == ("The body was left out: HEAD has none.",)


def test_merging_is_preferred_to_lists_of_edits() -> None:
    kinds = ("application/json-patch+json", "application/merge-patch+json", "application/xml")
    body = {"required": True, "content": {kind: {"schema": PET} for kind in kinds}}
    operation = only(document({"/pets": {"patch": {"requestBody": body}}}))
    assert operation.operation.body_type == "application/merge-patch+json"


def test_media_types_cannot_carry_headers_of_their_own() -> None:
    assert "only JSON" in refusal(with_body(PET, media="application/json\r\nX-Evil: 1"))
