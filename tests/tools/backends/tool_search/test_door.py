"""`tool_search` as callers meet it: through the REST door, on the catalogue as it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset, tool_values
from tests.processes import wait_until
from tests.tools.backends.tool_search.shelf import SHELF
from tools.context.tokens import count, count_json
from tools.contracts import ToolSpec
from tools.models import ApiService, PipelineConfig, Tool
from tools.services.seed_demo import seed_demo

WAYS = ("tool_search", "call_tool")


def shelve(specs: Iterable[ToolSpec] = SHELF) -> list[Tool]:
    """The shelf as rows of the catalogue, beside the built-in tools and in place of all others."""
    seed_demo(servers=False)
    # The shelf has tools of these names.
    PipelineConfig.objects.all().delete()
    ApiService.objects.all().delete()
    rows = [
        Tool(
            **tool_values(
                name=spec.name,
                title=spec.title,
                description=spec.description,
                input_schema=dict(spec.input_schema),
                tags=list(spec.tags),
                read_only=spec.read_only,
            )
        )
        for spec in specs
    ]
    return list(Tool.objects.bulk_create(rows))


def search(door: RestDoor, query: str, *, key: str = "", **arguments: Any) -> dict[str, Any]:
    headers = {"X-API-Key": key} if key else {}
    answer = door.call("tool_search", {"query": query, **arguments}, headers=headers)
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def names(data: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in data["tools"]]


def meant(door: RestDoor, query: str, **arguments: Any) -> dict[str, Any]:
    """The answer once the process has embedded its tools."""
    wait_until(
        lambda: search(door, query, **arguments)["matching"] == "meaning and words",
        timeout=60,
        what="a search by meaning",
    )
    return search(door, query, **arguments)


def test_tools_are_found_by_meaning_with_their_schemas(door: RestDoor) -> None:
    shelve()
    data = meant(door, "the customer was charged twice, pay it back")
    assert len(data["tools"]) == 5 <= data["total"]
    first = data["tools"][0]
    assert 0 < first.pop("score") < 1
    assert first == {
        "name": "stripe_refund_charge",
        "description": "Gives money of a charge back to the card it came from, in full or in part.",
        "input_schema": {
            "type": "object",
            "properties": {"charge_id": {"type": "string"}, "amount": {"type": "string"}},
        },
        "annotations": {"read_only": False, "destructive": False, "idempotent": False},
        "tags": ["payments"],
    }


def test_the_whole_answer_is_small(door: RestDoor) -> None:
    shelve()
    assert count(json.dumps(search(door, "send a message to my colleagues"))) < 2000


def test_filters_and_the_limit_hold(door: RestDoor) -> None:
    shelve()
    reading = search(door, "calendar events", read_only=True, tags=["Calendar"], limit=20)
    assert set(names(reading)) <= {"calendar_list_events", "calendar_find_free_slot"}
    writing = search(door, "calendar events", read_only=False, tags=["calendar"], limit=20)
    assert set(names(writing)) <= {"calendar_create_event", "calendar_delete_event"}
    assert names(writing)
    assert len(search(door, "calendar", limit=1)["tools"]) == 1
    assert search(door, "calendar", tags=["calendar", "mail"])["tools"] == []


def test_neither_search_nor_call_finds_itself(door: RestDoor) -> None:
    seed_demo(servers=False)
    found = search(door, "tool_search call_tool: search tools and call a tool", limit=20)
    assert {"tool_search", "call_tool"}.isdisjoint(names(found))
    assert "server_metrics" in names(search(door, "server_metrics"))


def test_bad_arguments_are_refused(door: RestDoor) -> None:
    seed_demo(servers=False)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 501}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 21}, "limit"),
        ({"query": "x", "tags": "calendar"}, "tags"),
        ({"query": "x", "read_only": "yes"}, "read_only"),
    ]
    for arguments, parameter in wrong:
        answer = door.call("tool_search", arguments)
        assert answer.status_code == 400, arguments
        assert answer.json()["meta"]["details"]["parameter"] == parameter


def test_odd_queries_are_answered(door: RestDoor) -> None:
    shelve(SHELF[:3])
    for query in ("🚀" * 500, "\0", "( [ * \\ ", " ", "a" * 500):
        assert len(search(door, query)["tools"]) <= 3


def test_a_caller_finds_only_what_it_was_granted(door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    rows = {row.name: row for row in shelve()}
    ways = list(Tool.objects.filter(name__in=WAYS))
    travel = make_toolset(tools=[rows["flight_search"], rows["hotel_search"], *ways])
    _, key = make_client(toolsets=[travel])
    everything = make_toolset(includes_all=True)
    _, other = make_client(toolsets=[everything])
    assert "stripe_refund_charge" in names(search(door, "refund a charge", key=other))
    for query in ("refund a charge", "stripe_refund_charge", "book a room for the night"):
        data = search(door, query, key=key, limit=20)
        assert set(names(data)) <= {"flight_search", "hotel_search"}
        assert data["total"] == len(data["tools"])


def test_changes_of_the_catalogue_are_found(door: RestDoor) -> None:
    seed_demo(servers=False)
    assert "zebra_counter" not in names(search(door, "count zebras"))
    tool = make_tool(name="zebra_counter", description="Counts striped horses in a picture.")
    wait_until(lambda: names(search(door, "zebra"))[:1] == ["zebra_counter"], what="the new tool")
    tool.description = "Tells when the next tram leaves."
    tool.save()
    wait_until(lambda: "zebra_counter" in names(search(door, "tram")), what="the new words")
    tool.enabled = False
    tool.save()
    wait_until(lambda: names(search(door, "zebra_counter")) != ["zebra_counter"], what="its end")


def test_a_search_names_the_tool_that_reads_a_shortened_schema_whole(door: RestDoor) -> None:
    seed_demo(servers=False)
    about = {"type": "object", "properties": {"deep": {"description": "many words " * 60}}}
    schema = {"type": "object", "properties": {f"field_{n}": about for n in range(20)}}
    for number in range(3):
        make_tool(name=f"giant_{number}", description="A giant form.", input_schema=schema)
    several = search(door, "giant form", limit=3)
    assert {tool["schema_shortened"] for tool in several["tools"]} == {True}
    assert "limit 1" in several["note"]
    alone = search(door, "giant_1", limit=1)["tools"][0]
    assert alone["input_schema"]["properties"] == schema["properties"]
    assert "schema_shortened" not in alone


def test_five_hundred_tools_cost_an_agent_a_few_hundred_tokens(door: RestDoor) -> None:
    specs = [
        ToolSpec(f"{spec.name}_{n}", spec.description, spec.input_schema, spec.source, "echo")
        for n in range(5)
        for spec in SHELF
    ][:500]
    shelve(specs)
    listed = {tool["name"]: tool for tool in door.get("/tools").json()["tools"]}
    everything = [listed[spec.name] for spec in specs]
    ways = [tool.to_mcp_schema() for tool in Tool.objects.filter(name__in=WAYS)]
    assert len(everything) == 500
    # Measured: 29,483 tokens beside 374.
    assert count_json(everything) > 25_000
    assert count_json(ways) < 450
    found = search(door, "refund a payment")
    assert count_json(found) < 2000
