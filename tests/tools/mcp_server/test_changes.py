"""Changes in the admin reach connected clients, whichever process they hang on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from tests.doors import RestDoor
from tests.factories import (
    make_client,
    make_prompt,
    make_resource,
    make_service,
    make_tool,
    make_toolset,
)
from tests.processes import wait_until
from tests.tools.mcp_server.clients import WAYS, User, Way, connected, user_of

LEGACY = [way for way in WAYS if way.mode == "legacy"]
MODERN = [way for way in WAYS if way.mode == "auto"]
TOOLS = "notifications/tools/list_changed"
PROMPTS = "notifications/prompts/list_changed"
RESOURCES = "notifications/resources/list_changed"
UPDATED = "notifications/resources/updated"


@contextmanager
def listener(url: str, way: Way, **options: Any) -> Iterator[list[str]]:
    """The kinds of events a modern client hears, as they arrive."""
    heard: list[str] = []
    ready, enough = asyncio.Event(), asyncio.Event()

    async def listen() -> None:
        async with (
            connected(url, way, **options) as client,
            client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as subscription,
            anyio.create_task_group() as group,
        ):

            async def hear() -> None:
                async for event in subscription:
                    heard.append(type(event).__name__)  # noqa: PERF401 - others look as they come

            group.start_soon(hear)
            ready.set()
            await enough.wait()
            group.cancel_scope.cancel()

    with start_blocking_portal() as portal:
        listening = portal.start_task_soon(listen)
        portal.call(ready.wait)
        yield heard
        portal.call(enough.set)
        listening.result(10)


@pytest.mark.parametrize("way", LEGACY, ids=str)
def test_a_new_tool_is_announced_to_handshake_clients(door: RestDoor, way: Way) -> None:
    make_tool(name="first")
    door.start()
    with user_of(door.url, way) as user:
        assert user.names() == ["first"]
        _wait_for_the_stream(door, user)
        make_tool(name="second")
        wait_until(lambda: TOOLS in user.notices, what="the notice")
        assert user.names() == ["first", "second"]
        assert PROMPTS not in user.notices
        make_prompt()
        wait_until(lambda: PROMPTS in user.notices, what="the notice of the prompt")
        make_resource()
        wait_until(lambda: RESOURCES in user.notices, what="the notice of the resource")


@pytest.mark.parametrize("way", MODERN, ids=str)
def test_a_new_tool_is_announced_to_those_who_listen(door: RestDoor, way: Way) -> None:
    make_tool(name="first")
    door.start()
    with listener(door.url, way) as heard:
        make_tool(name="second")
        wait_until(lambda: heard == ["ToolsListChanged"], what="the event")
        make_prompt()
        wait_until(lambda: heard[1:] == ["PromptsListChanged"], what="the second event")


def test_only_those_are_told_whose_own_list_changed(door: RestDoor) -> None:
    make_service(security_api_keys_enabled=True)
    mine = make_toolset(slug="mine", tools=[make_tool(name="mine")])
    other = make_toolset(slug="other", tools=[make_tool(name="other")])
    _, key = make_client(toolsets=[mine])
    door.start()
    with listener(door.url, MODERN[0], key=key) as heard:
        other.tools.add(make_tool(name="not_for_me"))
        mine.tools.add(make_tool(name="for_me"))
        wait_until(lambda: bool(heard), what="the event")
        assert heard == ["ToolsListChanged"]


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.parametrize(
    "way", [way for way in LEGACY if way.transport != "streamable_http"], ids=str
)
def test_a_subscribed_resource_is_announced_when_it_changes(door: RestDoor, way: Way) -> None:
    row = make_resource(uri="docs://guide", text="old")
    make_resource(uri="docs://other", text="old")
    door.start()
    with user_of(door.url, way) as user:
        user.run(lambda: user.client.subscribe_resource("docs://guide"))
        row.text = "new"
        row.save()
        wait_until(lambda: UPDATED in user.notices, what="the notice")


def _wait_for_the_stream(door: RestDoor, user: User) -> None:
    """Clients of Streamable HTTP open their stream after the handshake, in their own time."""
    from controlplane.application import mcp_doors

    assert door.loop is not None
    wait_until(lambda: mcp_doors.listeners > 0, what="the client to listen")
