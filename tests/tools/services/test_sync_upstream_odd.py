"""What servers offer that is not as it should be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import make_resource
from tests.tools.services.offered import RESOURCE, item, served
from tests.upstream_rows import definition, make_upstream, offers
from tools.selectors import load_catalogue
from tools.services.sync_upstream import (
    record_discovery,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_short_and_missing_descriptions_are_flagged_and_never_dropped() -> None:
    # C02
    server = make_upstream(slug="todo", display_name="TodoDatabaseServer")
    record_discovery("todo", offers(definition("a", description="Adds."), {"name": "b"}))
    tools = load_catalogue().tools
    assert (tools["a"].description, tools["b"].description) == (
        "Adds.",
        "Tool b of TodoDatabaseServer",
    )
    assert item(server, "a").findings[0]["text"].startswith("Has only 5 characters")
    assert {found["kind"] for found in item(server, "b").findings} == {"description", "schema"}


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        (None, {}),
        ({}, {}),
        ({"type": "object"}, {}),
        ({"type": "string"}, {}),
        ({"type": "object", "properties": {"a": {"type": "nonsense"}}}, {"a": {}}),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}},
            {"a": {}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "default": 5}}},
            {"a": {"type": "string"}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}},
            {"a": {"type": "string"}},
        ),
        ({"type": "object", "required": "a", "properties": {"a": {}}}, {"a": {}}),
        ({"type": "object", "properties": {"a": {"type": "string", "required": True}}}, None),
    ],
)
def test_an_unusable_schema_is_mended_and_breaks_nothing_else(schema: Any, listed: Any) -> None:
    # S2-020
    make_upstream(slug="todo")
    record_discovery("todo", offers(definition("odd", inputSchema=schema), "sound"))
    assert served() == {"odd", "sound"}
    spec = load_catalogue().tools["odd"]
    assert spec.input_schema["type"] == "object"
    assert spec.input_schema["properties"] == (
        {"a": {"type": "string"}} if listed is None else listed
    )
    assert spec.input_schema.get("required", []) == (["a"] if listed is None else [])


def test_an_output_schema_that_is_no_object_is_left_out_and_flagged() -> None:
    server = make_upstream(slug="todo")
    record_discovery("todo", offers(definition("one", outputSchema={"type": "array"})))
    assert load_catalogue().tools["one"].output_schema is None
    assert item(server, "one").findings[0]["where"] == "outputSchema"


def test_texts_that_no_database_keeps_are_mended() -> None:
    make_upstream(slug="todo")
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"deep": deep}
    odd = definition("odd", description="Has a NUL \0 and half \ud800 a pair.", _meta={"a": deep})
    record_discovery("todo", offers(odd, definition("bad\0name"), "sound"))
    assert served() == {"odd", "sound"}
    assert load_catalogue().tools["odd"].description == "Has a NUL \ufffd and half \ufffd a pair."
    assert record_discovery("todo", offers(odd, definition("bad\0name"), "sound")).unchanged


def test_what_cannot_be_represented_says_why_and_is_tried_again() -> None:
    server = make_upstream(slug="todo")
    taken = make_resource(uri="docs://one")
    odd = {"uri": "no address", "name": "odd"}
    found = offers("one", resources=(RESOURCE, odd))
    report = record_discovery("todo", found)
    assert set(report.changes.refused) == {"resource docs://one", "resource no address"}
    assert item(server, "docs://one").problem == "Another resource has this address."
    assert item(server, "no address").row is None
    assert "absolute URI" in item(server, "no address").problem
    taken.delete()
    record_discovery("todo", found, noted=True)
    assert load_catalogue().resources["docs://one"].upstream["remote_name"] == "docs://one"
    assert item(server, "docs://one").problem == ""


def test_things_without_a_name_and_things_said_twice_are_told() -> None:
    make_upstream(slug="todo")
    found = offers("one", definition("one", description="Another one."), {"description": "None."})
    report = record_discovery("todo", found)
    assert report.changes.warnings == [
        "tool one is offered twice; the first one counts",
        "One tool is left out: it has no usable name",
    ]
    assert load_catalogue().tools["one"].description == "Does what one says it does."
