"""What servers offer, put into the catalogue: found, and found again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.services.offered import META, PROMPT, RESOURCE, TEMPLATE, served
from tests.upstream_rows import definition, make_upstream, offers
from tools.models import Tool, UpstreamServer
from tools.selectors import catalogue_version, load_catalogue
from tools.services.sync_upstream import (
    record_discovery,
)
from tools.upstreams import Kind, fingerprint

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


def test_everything_a_server_offers_is_recorded_and_served() -> None:
    # S2-017, S2-018, S2-021, S2-031, C14
    server = make_upstream(slug="todo", call_timeout=7)
    tools = [definition("create_todo", _meta=META, title="Create"), definition("list_todos")]
    found = offers(*tools, prompts=(PROMPT,), resources=(RESOURCE,), templates=(TEMPLATE,))
    assert load_catalogue().tools == {}
    report = record_discovery("todo", found)
    assert len(report.changes.added) == 5
    catalogue = load_catalogue()
    spec = catalogue.tools["create_todo"]
    assert spec.input_schema == tools[0]["inputSchema"]
    assert (spec.title, spec.tags, spec.timeout_seconds) == ("Create", ("crud", "create"), 7)
    assert (spec.metadata["version"], spec.metadata["author"]) == ("1.0", "somebody")
    assert (spec.dependency, spec.requires_context_management) == ("mcp:todo", True)
    assert spec.binding == {
        "server": server.to_value(),
        "remote_name": "create_todo",
        "fingerprint": fingerprint(Kind.TOOL, tools[0]),
    }
    assert catalogue.prompts["ask_it"].upstream["remote_name"] == "ask-it"
    assert catalogue.prompts["ask_it"].arguments[0].name == "a b"
    assert catalogue.resources["docs://one"].upstream["server"] == server.to_value()
    assert catalogue.resources["docs://{page}"].is_template
    assert catalogue.upstreams == {"todo": server.to_value()}
    assert catalogue.breakers == {"mcp:todo": (5, 30.0)}


def test_annotations_become_properties_of_the_tool_and_are_kept() -> None:
    # F2-23
    make_upstream(slug="todo")
    hints = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    output = {"type": "object", "properties": {"id": {"type": "integer"}}}
    found = offers(
        definition("list_todos", annotations=hints, outputSchema=output),
        definition("delete_todo", annotations={"destructiveHint": True}),
    )
    record_discovery("todo", found)
    listing, deleting = (load_catalogue().tools[name] for name in ("list_todos", "delete_todo"))
    assert (listing.read_only, listing.idempotent, listing.destructive) == (True, True, False)
    assert (listing.output_schema, listing.requires_context_management) == (output, False)
    assert listing.metadata["annotations"] == hints
    assert deleting.destructive


def test_the_same_discovery_again_gives_the_same_registry_and_writes_nothing(
    django_assert_num_queries: Any,
) -> None:
    # F2-02
    make_upstream(slug="todo")
    tools = [definition(name) for name in ("b-1", "b.1", "b_1", "查询", "class")]
    record_discovery("todo", offers(*tools))
    before = load_catalogue().tools
    version = catalogue_version()
    with django_assert_num_queries(1):
        assert record_discovery("todo", offers(*reversed(tools))).unchanged
    assert catalogue_version() == version
    UpstreamServer.objects.all().delete()
    assert Tool.objects.count() == 0
    make_upstream(slug="todo")
    record_discovery("todo", offers(*reversed(tools)))
    assert {name: spec.binding["remote_name"] for name, spec in load_catalogue().tools.items()} == {
        name: spec.binding["remote_name"] for name, spec in before.items()
    }


def test_five_hundred_tools_are_recorded_in_one_go(django_assert_max_num_queries: Any) -> None:
    # S2-021
    make_upstream(slug="todo")
    found = offers(*(definition(f"tool_{number}") for number in range(500)))
    with django_assert_max_num_queries(60):
        record_discovery("todo", found)
    assert len(served()) == 500


def test_a_discovery_is_announced_to_every_process() -> None:
    make_upstream(slug="todo")
    record_discovery("todo", offers("one"))
    version = catalogue_version()
    record_discovery("todo", offers(definition("one", description="Something else now.")))
    assert catalogue_version() > version
