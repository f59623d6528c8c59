"""tools/list and tools/call over every network door, in both eras."""

from __future__ import annotations

import json
import uuid
from functools import partial

import pytest
from mcp.shared.exceptions import MCPError

from tests.doors import RestDoor
from tests.factories import make_client, make_service, make_tool, make_toolset
from tests.faults.backend import FakeBackend
from tests.journal import row_of, rows
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, Way, user_of
from tools.contracts import CallState, Transport

every_way = pytest.mark.parametrize("way", WAYS, ids=str)
ECHO_SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 1, "default": 3}},
}


@every_way
def test_the_catalogue_is_listed_with_all_a_row_says(door: RestDoor, way: Way) -> None:
    make_tool(
        name="look",
        title="Look it up",
        description="Looks something up; use it to find things.",
        read_only=True,
        idempotent=True,
        input_schema=ECHO_SCHEMA,
        output_schema={"type": "object", "properties": {"echo": {"type": "object"}}},
    )
    make_tool(name="drop", destructive=True)
    door.start()
    with user_of(door.url, way) as user:
        drop, look = user.run(user.client.list_tools).tools
    assert (drop.name, look.name) == ("drop", "look")  # S4-008: name, description, schema
    assert look.title == "Look it up"
    assert look.description == "Looks something up; use it to find things."
    assert look.input_schema == ECHO_SCHEMA
    assert look.output_schema == {"type": "object", "properties": {"echo": {"type": "object"}}}
    assert look.annotations is not None
    assert look.annotations.read_only_hint is True
    assert look.annotations.idempotent_hint is True
    assert drop.annotations is not None
    assert drop.annotations.destructive_hint is True


@every_way
def test_a_call_answers_as_rest_does_and_leaves_one_row(  # F0-13
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_tool(name="echo", input_schema=ECHO_SCHEMA)
    over_rest = door.call("echo", {"word": "grüße"}).json()
    with user_of(door.url, way) as user:
        result = user.call("echo", {"word": "grüße"})
    assert result.is_error is False
    assert result.structured_content == over_rest["data"]
    assert json.loads(result.content[0].text) == over_rest["data"]
    row = row_of(result.meta["request_id"])
    assert row.state == CallState.COMPLETED
    assert row.transport == Transport(way.transport)
    assert backend.calls == {"echo": 2}


@every_way
def test_bad_arguments_come_back_as_a_result_a_model_can_act_on(  # F4-08 S4-066 S4-067 S4-068
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_tool(name="echo", input_schema=ECHO_SCHEMA)
    door.start()
    with user_of(door.url, way) as user:
        result = user.call("echo", {"count": 0})
    assert result.is_error is True
    error = result.structured_content["error"]
    assert json.loads(result.content[0].text) == result.structured_content
    assert error["code"] == -32602
    assert error["message"].startswith("Invalid parameter: count")
    assert error["data"]["parameter"] == "count"
    assert error["data"]["value"] == 0
    assert error["data"]["expected"]
    assert error["data"]["suggestion"]
    assert backend.calls == {}


@every_way
def test_an_unknown_tool_is_a_protocol_error_that_lists_what_there_is(  # F0-30
    door: RestDoor, way: Way
) -> None:
    make_tool(name="echo")
    door.start()
    with user_of(door.url, way) as user, pytest.raises(MCPError) as refused:
        user.call("eccho")
    assert refused.value.code == -32602
    assert refused.value.data["available"] == ["echo"]
    assert row_of(refused.value.data["request_id"]).tool_id == "eccho"


@pytest.mark.parametrize("way", WAYS[:2], ids=str)
def test_an_id_of_the_client_is_kept(door: RestDoor, backend: FakeBackend, way: Way) -> None:
    make_tool(name="echo")
    given = str(uuid.uuid4())
    door.start()
    with user_of(door.url, way) as user:
        kept = user.call("echo", meta={"request_id": given})
        other = user.call("echo", meta={"correlation_id": "order_7", "thread_id": "chat-1"})
    assert kept.meta["request_id"] == given
    row = row_of(other.meta["request_id"])
    assert (row.correlation_id, row.thread_id) == ("order_7", "chat-1")


@every_way
def test_a_client_sees_and_calls_only_what_it_was_granted(
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_service(security_api_keys_enabled=True)
    tools = make_toolset(slug="mine", tools=[make_tool(name="mine")])
    other = make_toolset(slug="other", tools=[make_tool(name="other")])
    make_toolset(slug="hidden", tools=[make_tool(name="hidden")])
    _, key = make_client(toolsets=[tools, other])
    door.start()
    with user_of(door.url, way, key=key) as user:
        assert user.names() == ["mine", "other"]
        with pytest.raises(MCPError, match="not found"):
            user.call("hidden")
    with user_of(door.url, way, key=key, toolset="mine") as user:
        assert user.names() == ["mine"]
        assert user.call("mine").is_error is False
        with pytest.raises(MCPError, match="not found"):
            user.call("other")
        assert server_name(user, way) == "mine"


@every_way
def test_long_calls_are_followed_by_progress(  # F4-14 S4-082
    door: RestDoor, backend: FakeBackend, way: Way
) -> None:
    make_tool(name="echo")
    door.start()
    seen: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, message))

    with user_of(door.url, way) as user:
        user.call("echo", {"delay": 5.2, "reports": "half way"}, progress_callback=note)
    values = [progress for progress, _ in seen]
    assert values == sorted(set(values)), "progress must grow"
    assert seen[0][1] == "half way"
    # One of the backend, then one at least every two seconds.
    assert len(seen) >= 3


@every_way
def test_a_cancelled_call_stops_its_work(door: RestDoor, backend: FakeBackend, way: Way) -> None:
    make_tool(name="echo")
    door.start()
    with user_of(door.url, way) as user:
        running = user.begin(partial(user.client.call_tool, "echo", {"delay": 60}))
        wait_until(lambda: backend.calls.get("echo") == 1, what="the call to begin")
        running.cancel()
        wait_until(lambda: backend.cancelled == 1, what="the work to stop")
        assert user.call("echo").is_error is False
    wait_until(lambda: len(final := rows()) == 2 and all(r.finished_at for r in final), what="rows")
    assert {row.state for row in rows()} == {CallState.COMPLETED, CallState.FAILED}


@every_way
def test_hanging_up_stops_the_work(door: RestDoor, backend: FakeBackend, way: Way) -> None:
    make_tool(name="echo")
    door.start()
    with user_of(door.url, way) as user:
        user.begin(partial(user.client.call_tool, "echo", {"delay": 60}))
        wait_until(lambda: backend.calls.get("echo") == 1, what="the call to begin")
    wait_until(lambda: backend.cancelled == 1, what="the work to stop")


def server_name(user: object, way: Way) -> str:
    info = user.client.server_info  # type: ignore[attr-defined]
    return str(info.name)
