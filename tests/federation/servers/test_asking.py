"""Tools of a reference server that need more of their caller than arguments."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from tests.federation.servers.answers import Answer, over_rest, texts
from tests.federation.servers.plane import ASKED_WAYS, MCP_WAYS, Plane, ask
from tests.federation.servers.reference import EVERYTHING, programs
from tests.tools.mcp_server.clients import Way, connected

QUESTION = "trigger-elicitation-request"
LINK = "trigger-url-elicitation"
LONG = "trigger-long-running-operation"
ANSWER = {"name": "Ada", "check": True, "email": "ada@example.org", "integer": 7}
ARGUMENTS = {QUESTION: {}, LINK: {"url": "https://example.org/", "elicitationId": "one"}}
# They need what neither we nor the client offer, so the server does not even have them.
NOT_THERE = ("trigger-sampling-request", "get-roots-list")


class Person:
    """Somebody at the client, who answers and remembers what was asked."""

    def __init__(self, action: str = "accept") -> None:
        self.action = action
        self.asked: list[dict[str, Any]] = []

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        question = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.asked.append({key: value for key, value in question.items() if key != "_meta"})
        given = ANSWER if self.action == "accept" and params.mode == "form" else None
        return ElicitResult(action=self.action, content=given)  # type: ignore[arg-type]


@cache
def directly(files: Path, action: str, tool: str) -> tuple[Answer, list[dict[str, Any]]]:
    """What the server itself answers and asks, where the person reacts like that."""
    person = Person(action)

    async def work() -> Answer:
        server = programs(files, files)[EVERYTHING].parameters()
        async with Client(server, elicitation_callback=person.answer) as client:
            return await ask(client, tool, ARGUMENTS[tool], tool, files)

    return asyncio.run(work()), person.asked


def through(plane: Plane, way: Way, tool: str, folder: Path, **options: Any) -> Answer:
    name = plane.names(EVERYTHING)[tool]

    async def work() -> Answer:
        async with connected(plane.url, way, **options) as client:
            return await ask(client, name, ARGUMENTS[tool], tool, folder)

    return asyncio.run(work())


@pytest.mark.parametrize("action", ["accept", "decline"])
@pytest.mark.parametrize("tool", [QUESTION, LINK])
@pytest.mark.parametrize("way", ASKED_WAYS, ids=str)
def test_the_users_answer_reaches_the_server_as_if_it_were_asked_directly(
    plane: Plane, files: Path, way: Way, tool: str, action: str
) -> None:
    person = Person(action)
    expected, asked = directly(files, action, tool)
    seen = through(plane, way, tool, files, elicitation_callback=person.answer)
    assert seen == expected
    assert person.asked == asked
    assert len(person.asked) == 1
    assert ("Ada" in texts(seen)) is (tool == QUESTION and action == "accept")


@pytest.mark.parametrize("tool", [QUESTION, LINK])
def test_for_a_caller_who_cannot_be_asked_the_server_hears_that_nobody_answers(
    plane: Plane, files: Path, tool: str
) -> None:
    expected, _ = directly(files, "cancel", tool)
    assert "User cancelled" in texts(expected)
    for way in (*MCP_WAYS, *ASKED_WAYS):
        assert through(plane, way, tool, files) == expected, way
    status, body = plane.stack.call(plane.names(EVERYTHING)[tool], **ARGUMENTS[tool])
    assert (status, body["data"]) == (200, over_rest(expected))


@pytest.mark.parametrize("way", [*MCP_WAYS, *ASKED_WAYS[1:]], ids=str)
def test_progress_reaches_the_caller_as_the_server_tells_it(
    plane: Plane, files: Path, way: Way
) -> None:
    given = {"duration": 0.2, "steps": 2}

    async def follow(client: Client, name: str) -> list[tuple[float, float | None]]:
        seen: list[tuple[float, float | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        await client.call_tool(name, given, progress_callback=note)
        return seen

    async def both() -> tuple[list[Any], list[Any]]:
        async with Client(programs(files, files)[EVERYTHING].parameters()) as client:
            itself = await follow(client, LONG)
        async with connected(plane.url, way) as client:
            return itself, await follow(client, plane.names(EVERYTHING)[LONG])

    itself, through = asyncio.run(both())
    assert through == itself == [(1, 2), (2, 2)]


@pytest.mark.parametrize("remote", NOT_THERE)
def test_a_tool_that_needs_what_nobody_offers_is_clearly_not_there(
    plane: Plane, files: Path, remote: str
) -> None:
    name = remote.replace("-", "_")
    assert remote not in plane.names(EVERYTHING)

    async def visit() -> str:
        async with connected(plane.url, MCP_WAYS[0]) as client:
            with pytest.raises(MCPError) as declined:
                await client.call_tool(name, {})
        return declined.value.error.message

    async def direct() -> bool:
        async with Client(programs(files, files)[EVERYTHING].parameters()) as client:
            return (await client.call_tool(remote, {})).is_error is True

    assert name in asyncio.run(visit())
    assert asyncio.run(direct())
    status, body = plane.stack.call(name)
    assert (status, body["code"]) == (404, "TOOL_NOT_FOUND")
