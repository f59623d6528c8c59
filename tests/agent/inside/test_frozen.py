"""A server that is frozen during a call is told from one whose tool takes long."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest
from langchain_core.tools import ToolException
from mcp.server.fastmcp import FastMCP

from agent import texts
from agent.mcp_tools import Link
from agent.pulse import SILENT, Known
from agent.tool_server import ToolServer
from tests.agent.inside.servers import Served, answer_to, handshake, served
from tests.http_server import HttpServer, Reply, http_server

# Far above what is set here, far below what a call may take.
SECONDS = 20
# Several times what silence may last here.
LONG = 1.5
Greeting = Callable[[], Sequence[Reply]]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.pulse.PAUSE_SECONDS", 0.3)
    monkeypatch.setattr("agent.pulse.STEP_SECONDS", 0.04)


@contextmanager
def slow_server(json_response: bool) -> Iterator[Served]:
    """Its tools take long: one lets others have their turn meanwhile, one does not."""
    mcp = FastMCP("slow", stateless_http=True, json_response=json_response)

    @mcp.tool()
    def works() -> str:
        """Works for long."""
        threading.Event().wait(LONG)
        return "done"

    @mcp.tool()
    async def waits() -> str:
        """Waits for long."""
        await asyncio.to_thread(threading.Event().wait, LONG)
        return "done"

    with served(mcp) as running:
        yield running


async def told(link: Link, tool: str = "double") -> str:
    """What a call comes to."""
    async with asyncio.timeout(SECONDS):
        try:
            result = await link.call(tool, {})
        except ToolException as fault:
            return str(fault)
    assert result.structuredContent is not None
    return str(result.structuredContent["result"])


def pings(server: HttpServer) -> int:
    return [json.loads(one.body).get("method") for one in server.asked].count("ping")


@pytest.mark.parametrize("json_response", [True, False], ids=["JSON", "streams"])
async def test_a_tool_that_takes_long_is_waited_for(json_response: bool) -> None:
    # C10
    with slow_server(json_response) as server:
        link = Link(ToolServer(server.url))
        # Twice: what the first call has shown must not turn against the second.
        answers = [await told(link, tool) for tool in ("works", "waits") * 2]
    assert answers == ["done"] * 4
    assert not link.lost
    assert link.server.known.awake == {"waits": 1}


async def test_a_tool_that_blocks_its_server_does_not_cut_off_one_called_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # C10
    # Until both are called the server has to be as quick as this; then it is blocked for longer.
    monkeypatch.setattr("agent.pulse.STEP_SECONDS", 0.2)
    with slow_server(json_response=False) as server:
        link = Link(ToolServer(server.url, known=Known(awake={"waits": 1})))
        waits = asyncio.create_task(told(link, "waits"))
        while not server.asked("tools/call"):
            await asyncio.sleep(0)
        assert await told(link, "works") == "done"
        assert await waits == "done"
    assert not link.lost


def streamed_handshake() -> tuple[Reply, Reply]:
    """The greeting of a server that answers with streams."""
    greeting, accepted = handshake()
    return Reply(200, b"data: " + greeting.body + b"\n\n", "text/event-stream"), accepted


GREETINGS = pytest.mark.parametrize(
    "greeting", [handshake, streamed_handshake], ids=["JSON", "streams"]
)


@GREETINGS
async def test_a_server_that_may_have_one_thread_only_is_waited_for(
    greeting: Greeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    # C10
    # Of the SDK in TypeScript too: it opens the stream of a call when a tool that blocks it is done.
    monkeypatch.setattr("agent.mcp_tools.CALL_SECONDS", LONG)
    with http_server(always=Reply(hang=True)) as server:
        server.behave(*greeting())
        link = Link(ToolServer(f"{server.url}/mcp"))
        assert await told(link) == texts.TOOL_TIMED_OUT
        # It is not asked again and again.
        assert pings(server) == 1
    assert not link.lost


@GREETINGS
async def test_a_server_that_answered_while_the_tool_worked_before_is_lost_when_it_does_not_now(
    greeting: Greeting, caplog: pytest.LogCaptureFixture
) -> None:
    # F2-06 S1-024 S1-048
    with http_server(always=Reply(hang=True)) as server:
        server.behave(*greeting())
        link = Link(ToolServer(f"{server.url}/mcp", known=Known(awake={"double": 1})))
        assert await told(link) == texts.TOOLS_UNAVAILABLE
    assert link.lost
    assert f"MCP server was lost during a call of 'double': {SILENT}" in caplog.text


@pytest.mark.parametrize(
    "sign",
    [Reply(404), Reply(500), Reply(200, b"<html>", "text/html"), Reply(202, b"")],
    ids=["404", "500", "a page", "accepted"],
)
async def test_any_answer_is_a_sign_of_life(monkeypatch: pytest.MonkeyPatch, sign: Reply) -> None:
    monkeypatch.setattr("agent.mcp_tools.CALL_SECONDS", LONG)
    with http_server(always=sign) as server:
        server.behave(*streamed_handshake(), Reply(hang=True))
        link = Link(ToolServer(f"{server.url}/mcp", known=Known(awake={"double": 1})))
        assert await told(link) == texts.TOOL_TIMED_OUT
        assert pings(server) > 1
    assert not link.lost


async def test_pieces_of_the_answer_are_signs_of_life_too() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            threading.Event().wait(0.08)
            yield b": at work\n\n"
        yield b"data: " + answer_to(1, "done") + b"\n\n"

    with http_server(always=Reply(hang=True)) as server:
        server.behave(*handshake(), Reply(content_type="text/event-stream", pieces=pieces))
        link = Link(ToolServer(f"{server.url}/mcp", known=Known(awake={"double": 1})))
        assert await told(link) == "done"
