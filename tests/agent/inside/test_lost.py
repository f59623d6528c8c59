"""A server that is lost while it is asked, or lets a request go unanswered: nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import ToolException

from agent import texts
from agent.chat_agent import ChatAgent
from agent.mcp_tools import Link, McpTool
from agent.settings import Settings
from agent.states import McpState
from agent.tool_server import ToolServer
from tests.agent.inside.patience import Waiting
from tests.agent.inside.servers import answer_to, handshake, served, small_server
from tests.agent.tool_process import tool_process
from tests.http_server import Reply, http_server, json_reply

# The end of a test that would wait on; what is promised is less than 5 s, and held to beside each wait.
SECONDS = 20
OTHER = "it sent something else in place of an answer"
ENDED = "it closed the stream without an answer"
BROKEN = "peer closed connection without sending complete message body"
UNPACKED = "it sent what cannot be unpacked"
NOTICE = b'{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'
LONG_NOTICE = NOTICE[:-1] + b', "params": {"why": "%s"}}' % (b"x" * 70_000)
ODD_NOTICE = NOTICE[:-1] + b', "result": {}}'


def events(*pieces: bytes) -> Reply:
    return Reply(content_type="text/event-stream", pieces=lambda: iter(pieces))


def cut(body: bytes, kind: str = "text/event-stream") -> Reply:
    return Reply(200, body, kind, short=True)


def packed(body: bytes, kind: str) -> Reply:
    return Reply(200, body, kind, {"Content-Encoding": "gzip"})


UNANSWERED = {
    "an empty stream": (events(), ENDED),
    "a comment": (events(b": still here\n\n"), ENDED),
    "a cut event": (events(b'event: message\ndata: {"jsonrpc": "2.0", "id"'), ENDED),
    "a cut event with an id": (events(b'id: 7\ndata: {"jsonrpc"'), ENDED),
    "accepted": (Reply(202, b""), "it accepted the request and will not answer it"),
    "a broken stream": (cut(b": still here\n\n"), BROKEN),
    "broken JSON": (cut(b'{"jsonrpc"', "application/json"), BROKEN),
    "hung up": (Reply(drop=True), "Server disconnected without sending a response"),
    "a stream packed wrongly": (packed(b"no", "text/event-stream"), UNPACKED),
    "JSON packed wrongly": (packed(b"no", "application/json"), UNPACKED),
    "a notice": (Reply(200, NOTICE), OTHER),
    "a long notice": (Reply(200, LONG_NOTICE), OTHER),
    "a notice with a result": (Reply(200, ODD_NOTICE), OTHER),
    "a stream with a notice": (events(b"data: " + NOTICE + b"\n\n"), ENDED),
}


async def refused(link: Link) -> str:
    """What a call says that fails in time."""
    beside, began = Waiting(), time.monotonic()
    async with asyncio.timeout(SECONDS):
        with pytest.raises(ToolException) as raised:
            await link.call("double", {"word": "a"})
    assert beside.in_time(time.monotonic() - began)
    return str(raised.value)


@pytest.mark.parametrize("reply", UNANSWERED)
async def test_a_call_that_is_left_without_an_answer_is_told_at_once(
    reply: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-024 S1-048 F1-11 F2-06
    given, reason = UNANSWERED[reply]
    with http_server() as server:
        server.behave(*handshake(), given)
        link = Link(ToolServer(f"{server.url}/mcp"))
        assert await refused(link) == texts.TOOLS_UNAVAILABLE
    assert link.lost
    (said,) = [one.getMessage() for one in caplog.records if one.name.startswith("agent")]
    assert said.startswith(f"MCP server was lost during a call of 'double': {reason}")


@pytest.mark.parametrize("reply", UNANSWERED)
def test_a_list_that_is_left_without_an_answer_is_told_at_once(
    reply: str, caplog: pytest.LogCaptureFixture
) -> None:
    # F1-03 S1-035 S1-043
    given, reason = UNANSWERED[reply]
    with http_server() as server:
        server.behave(*handshake(), given)
        beside, began = Waiting(), time.monotonic()
        agent = ChatAgent(Settings(mcp_url=f"{server.url}/mcp"))
        assert beside.in_time(time.monotonic() - began)
    assert (agent.tools, agent.mcp_state) == ([], McpState.FAILED)
    assert f"cannot connect: {reason}" in caplog.text


WORDS = [{"type": "text", "text": "tea"}]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [*WORDS, {"type": "hologram", "beam": 7}]}, "tea\n[hologram, cannot be read]"),
        ({"content": [{"text": "tea"}, {"type": "image"}]}, "tea\n[image, cannot be read]"),
        ({"content": "tea"}, "tea"),
        ({"content": [7, None]}, "[something, cannot be read]"),
        ({"content": WORDS, "structuredContent": ["tea"]}, "tea"),
        ({"structuredContent": {"word": "tea"}}, '{"word": "tea"}'),
        ({}, "(no content)"),
    ],
)
def test_a_tool_that_answers_oddly_has_answered(
    result: dict[str, Any], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-048 F1-10
    tools = {"tools": [{"name": "brew", "inputSchema": {"type": "object"}}]}
    listed, answered = (
        json_reply({"jsonrpc": "2.0", "id": 1, "result": one}) for one in (tools, result)
    )
    with http_server() as server:
        server.behave(*handshake(), listed)
        (brew,) = ChatAgent(Settings(mcp_url=f"{server.url}/mcp")).tools
        server.behave(*handshake(), answered)
        assert brew.invoke({}) == text
    assert isinstance(brew, McpTool)
    assert brew.available
    (said,) = [one.getMessage() for one in caplog.records if one.name.startswith("agent")]
    assert said.startswith("MCP tool 'brew' answered oddly: ")


def killed_during_a_call(agent: ChatAgent, kill: Callable[[], None]) -> str:
    """What the tool says whose server is killed as soon as it was called."""

    async def both() -> str:
        waits = next(one for one in agent.tools if one.name == "waits")
        call = asyncio.create_task(waits.ainvoke({}))
        await asyncio.to_thread(kill)
        beside, began = Waiting(), time.monotonic()
        async with asyncio.timeout(SECONDS):
            said = str(await call)
        assert beside.in_time(time.monotonic() - began)
        return said

    return asyncio.run(both())


def states(agent: ChatAgent) -> tuple[McpState, list[bool]]:
    return agent.mcp_state, [one.available for one in agent.tools if isinstance(one, McpTool)]


def test_a_server_killed_during_a_call_is_told_at_once_and_works_again_when_it_is_back(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S1-024 S1-048 F1-03 F1-11
    # It may be slow to greet.
    monkeypatch.setattr("agent.mcp_tools.GREETING_SECONDS", SECONDS)
    with tool_process(sys.executable) as server:
        agent = ChatAgent(Settings(mcp_url=server.url))

        def kill() -> None:
            server.wait_for_a_call()
            server.process.kill()

        assert killed_during_a_call(agent, kill) == texts.TOOLS_UNAVAILABLE
    assert states(agent) == (McpState.FAILED, [False] * 5)
    assert "MCP server was lost during a call of 'waits': " in caplog.text
    with tool_process(sys.executable, server.port):
        assert agent.tools[0].invoke({"word": "tea"}) == "tea tea"
    assert states(agent) == (McpState.CONNECTED, [True] * 5)


async def test_a_stream_is_read_whatever_it_is_said_to_be_written_in() -> None:
    answer = b"data: " + answer_to(1, "tea tea") + b"\n\n"
    with http_server() as server:
        server.behave(*handshake(), Reply(200, answer, "text/event-stream; charset=hex"))
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            result = await link.call("double", {"word": "tea"})
    assert result.structuredContent == {"result": "tea tea"}


async def test_what_was_read_before_the_end_of_a_stream_tells_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with http_server() as server:
        # The end of the line, and with it the answer, comes with the end of the stream.
        server.behave(*handshake(), events(b"data: " + answer_to(1, "tea tea") + b"\r\r"))
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            result = await link.call("double", {"word": "tea"})
    assert result.structuredContent == {"result": "tea tea"}
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


async def test_a_slow_server_that_was_lost_is_back_when_it_has_greeted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-06 S1-048
    monkeypatch.setattr("agent.mcp_tools.GREETING_SECONDS", 0.0)
    back = asyncio.Event()
    loop = asyncio.get_running_loop()

    def changed(lost: bool) -> None:
        if not lost:
            loop.call_soon_threadsafe(back.set)

    with served(small_server()) as server:
        link = Link(ToolServer(server.url), lost=True, changed=changed)
        assert await refused(link) == texts.TOOLS_UNAVAILABLE
        async with asyncio.timeout(SECONDS):
            await back.wait()
            result = await link.call("double", {"word": "tea"})
    assert result.structuredContent == {"result": "tea tea"}


async def test_calls_that_wait_for_a_lost_server_share_one_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-06
    monkeypatch.setattr("agent.mcp_tools.GREETING_SECONDS", 0.1)
    with http_server(always=Reply(hang=True)) as server:
        link = Link(ToolServer(f"{server.url}/mcp"), lost=True)
        assert await refused(link) == await refused(link) == texts.TOOLS_UNAVAILABLE
        assert await asyncio.to_thread(server.under_way.wait, SECONDS)
        assert len(server.asked) == 1
