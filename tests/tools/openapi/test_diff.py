"""What a later document changes, and whether callers must change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.tools.openapi.documents import JSON, document, imported, ref
from tools.openapi import Change, Changes, diff

LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}


def listing(*parameters: Any, **more: Any) -> dict[str, Any]:
    return {
        "operationId": "listPets",
        "summary": "List all pets",
        "parameters": list(parameters),
        **more,
    }


def kept(paths: Any, **more: Any) -> Mapping[str, Mapping[str, Any]]:
    return {one.key: one.to_json() for one in imported(document(paths, **more)).operations}


def changes(old: Any, new: Any) -> Changes:
    return diff(kept({"/pets": {"get": old}}), imported(document({"/pets": {"get": new}})))


def test_the_same_document_changes_nothing() -> None:
    # F4-23
    found = changes(listing(LIMIT), listing(LIMIT))
    assert found == Changes((), (), ())
    assert not found


def test_operations_that_come_and_go_are_told() -> None:
    # F4-23
    old = kept({"/pets": {"get": {}}, "/cats": {"get": {}}})
    found = diff(old, imported(document({"/pets": {"get": {}}, "/dogs": {"post": {}}})))
    assert found == Changes(added=("POST /dogs",), removed=("GET /cats",), changed=())
    assert found.breaking


def test_an_operation_that_is_now_refused_counts_as_removed() -> None:
    found = diff(kept({"/a": {"get": {}}}), imported(document({"/a": {"get": {"parameters": 5}}})))
    assert found.removed == ("GET /a",)


def test_other_words_do_not_break_callers() -> None:
    found = changes(listing(LIMIT), listing(LIMIT, summary="List all the pets", deprecated=True))
    assert found.changed == (
        Change(
            "GET /pets",
            ("title", "description", "deprecated"),
            breaks=False,
            notes=("it is now deprecated",),
        ),
    )
    assert not found.breaking


def schema(**more: Any) -> dict[str, Any]:
    return {"name": "limit", "in": "query", "schema": more}


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (LIMIT, {**LIMIT, "required": True}, "limit is now required"),
        (LIMIT, {**LIMIT, "name": "size"}, "limit was removed"),
        (LIMIT, schema(type="integer", maximum=50), "limit has a new maximum of 50"),
        (LIMIT, schema(type="string"), "limit can no longer be integer"),
        (schema(type="integer"), schema(type="integer", minimum=1), "limit has a new minimum of 1"),
        (schema(minLength=1), schema(minLength=2), "limit has a new minLength of 2"),
        (schema(), LIMIT, "limit must now be integer"),
        (schema(enum=["a", "b"]), schema(enum=["b", "c"]), "limit no longer takes a"),
        (
            schema(type="string"),
            schema(type="string", enum=["a"]),
            "limit now has a fixed list of values",
        ),
        (schema(type="string"), schema(type="string", pattern="a"), "limit has another pattern"),
        (
            schema(type="array", items={"type": "string"}),
            schema(type="array", items={"type": "integer"}),
            "limit[] can no longer be string",
        ),
        (
            schema(anyOf=[{"type": "string"}, {"type": "integer"}]),
            schema(anyOf=[{"type": "string"}]),
            "limit has another anyOf",
        ),
        (
            schema(type="object"),
            schema(type="object", additionalProperties=False),
            "limit takes no further keys",
        ),
        (
            schema(type="object"),
            schema(type="object", additionalProperties={"type": "string"}),
            "limit.* must now be string",
        ),
    ],
)
def test_what_callers_may_no_longer_send_breaks_them(old: Any, new: Any, note: str) -> None:
    # F4-23
    (change,) = changes(listing(old), listing(new)).changed
    assert change.breaks
    assert note in change.notes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (schema(type="integer"), schema(type="number")),
        (schema(type="integer"), schema(type=["integer", "null"])),
        (schema(type="integer", maximum=10), schema(type="integer", maximum=20)),
        (schema(type="integer", minimum=2), schema(type="integer", minimum=1)),
        (schema(enum=["a"]), schema(enum=["a", "b"])),
        (schema(type="string", maxLength=3), schema(type="string")),
        (schema(anyOf=[{"type": "string"}]), schema(anyOf=[{"type": "string"}, {"type": "null"}])),
        ({**LIMIT, "required": True}, LIMIT),
    ],
)
def test_what_callers_may_send_in_addition_does_not_break_them(old: Any, new: Any) -> None:
    (change,) = changes(listing(old), listing(new)).changed
    assert not change.breaks
    assert change.fields == ("input_schema",)


def test_changes_far_inside_recursive_schemas_are_found() -> None:
    def stated(limit: int) -> dict[str, Any]:
        leaf = {"type": "string", "maxLength": limit}
        tree = {
            "type": "object",
            "properties": {"leaf": leaf, "parts": {"type": "array", "items": ref("Tree")}},
        }
        body = {
            "required": True,
            "content": {JSON: {"schema": {"type": "array", "items": ref("Tree")}}},
        }
        return document(
            {"/trees": {"post": {"requestBody": body}}}, components={"schemas": {"Tree": tree}}
        )

    old = {one.key: one.to_json() for one in imported(stated(9)).operations}
    (change,) = diff(old, imported(stated(5))).changed
    assert change.notes == ("body[].leaf has a new maxLength of 5",)


def test_answers_that_lose_a_field_and_new_names_break_callers() -> None:
    def stated(name: str, *fields: str) -> dict[str, Any]:
        described = {"type": "object", "properties": {field: {} for field in fields}}
        return {
            "operationId": name,
            "responses": {"200": {"content": {JSON: {"schema": described}}}},
        }

    (change,) = changes(stated("listPets", "id", "name"), stated("findPets", "id")).changed
    assert change.notes == ("the tool is now called find_pets", "the answer no longer has name")
    assert change.breaks


def test_an_answer_that_is_no_longer_described_breaks_callers() -> None:
    described = {"200": {"content": {JSON: {"schema": {"type": "object", "properties": {}}}}}}
    (lost,) = changes(listing(responses=described), listing()).changed
    assert lost.notes == ("the answer is no longer described",)
    (gained,) = changes(listing(), listing(responses=described)).changed
    assert not gained.breaks
