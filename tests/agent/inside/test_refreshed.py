"""Tools that a server offers later, or no more, are seen without a restart of the agent."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tools import tool
from mcp.server.fastmcp import FastMCP

from agent import texts
from agent.chat_agent import ChatAgent
from agent.settings import Settings
from agent.states import AgentState, McpState
from tests.agent.inside.patience import Waiting
from tests.agent.inside.servers import Served, handshake, listing, served, small_server
from tests.agent.inside.test_breaker import Clock
from tests.http_server import Reply, json_reply

SECONDS = 20
NAMES = ["double", "fails", "hangs"]
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
DOUBLE = {"name": "double", "description": "Says a word twice.", "inputSchema": SCHEMA}


@pytest.fixture
def mcp() -> FastMCP:
    return small_server()


@pytest.fixture
def small(mcp: FastMCP) -> Iterator[Served]:
    with served(mcp) as running:
        yield running


def names(agent: ChatAgent) -> list[str]:
    return [one.name for one in agent.tools]


def create_note(title: str) -> str:
    """Creates a note with a title."""
    return f"noted: {title}"


async def passed(agent: ChatAgent) -> None:
    """A turn that comes to nothing."""
    await agent.reply("Hello")
    # It may have waited for nothing, and a limit has to be able to end a loop.
    await asyncio.sleep(0)


async def until(agent: ChatAgent, clock: Clock, *offered: str) -> None:
    """Turns, a minute apart, until these are the agent's tools: one may not wait for it to the end."""
    async with asyncio.timeout(SECONDS):
        while names(agent) != list(offered):
            clock.now += 60
            await passed(agent)


async def test_what_a_server_offers_later_or_no_more_is_seen_within_a_minute(
    mcp: FastMCP, small: Served
) -> None:
    # F1-02 F2-10
    clock = Clock()
    agent = ChatAgent(Settings(mcp_url=small.url), clock=clock)
    mcp.add_tool(create_note)
    clock.now += 59
    await agent.reply("Hello")
    assert len(small.asked("tools/list")) == 1
    clock.now -= 59
    await until(agent, clock, *NAMES, "create_note")
    assert "noted: tea" in await agent.reply("Create a note with the title tea")
    mcp.remove_tool("create_note")
    mcp.remove_tool("fails")
    await until(agent, clock, "double", "hangs")
    assert (agent.state, agent.mcp_state) == (AgentState.WITH_MCP, McpState.CONNECTED)


async def test_a_question_that_was_asked_back_outlasts_the_tools(
    mcp: FastMCP, small: Served
) -> None:
    # F2-07
    clock = Clock()
    agent = ChatAgent(Settings(mcp_url=small.url), clock=clock)
    for thread in ("kept", "dropped"):
        assert "Please tell also:\n- word" in await agent.reply("Double", thread_id=thread)
    mcp.remove_tool("fails")
    await until(agent, clock, "double", "hangs")
    assert 'Shall I call double with word "tea"' in await agent.reply("tea", thread_id="kept")
    mcp.remove_tool("double")
    await until(agent, clock, "hangs")
    assert "None fits" in await agent.reply("tea", thread_id="dropped")


async def test_a_tool_that_the_server_does_not_know_any_more_is_gone_with_the_next_turn(
    mcp: FastMCP, small: Served
) -> None:
    # F1-02
    agent = ChatAgent(Settings(mcp_url=small.url), clock=Clock())
    mcp.remove_tool("double")
    assert "Unknown tool: double" in await agent.reply('Double "tea"')
    async with asyncio.timeout(SECONDS):
        while names(agent) != ["fails", "hangs"]:
            await passed(agent)


async def test_a_tool_unknown_by_an_error_of_the_protocol_is_asked_for_again_too() -> None:
    # F1-02
    unknown = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}}
    with listing(DOUBLE) as server:
        agent = ChatAgent(Settings(mcp_url=server.url), clock=Clock())
        server.behave(*handshake(), json_reply(unknown))
        assert "no such tool" in await agent.reply('Double "tea"')
        asked = len(server.asked)
        server.behave(
            *handshake(), json_reply({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})
        )
        async with asyncio.timeout(SECONDS):
            while agent.tools:
                await passed(agent)
        assert len(server.asked) > asked


@tool("double")
def own_double(word: str) -> str:
    """Doubles a word here."""
    return f"own {word}"


async def test_what_was_said_of_the_tools_is_not_said_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F1-04 F1-11
    listed: list[Any] = [{"name": "double", "inputSchema": SCHEMA}, {"name": "class"}]
    with listing(*listed) as server:
        clock = Clock()
        agent = ChatAgent(Settings(mcp_url=server.url), [own_double], clock=clock)
        listed = [{"name": "halve", "inputSchema": SCHEMA}, *listed]
        again = {"jsonrpc": "2.0", "id": 1, "result": {"tools": listed}}
        server.behave(*handshake(), json_reply(again))
        await until(agent, clock, "halve", "double")
    told = [one.getMessage() for one in caplog.records if one.name.startswith("agent")]
    assert [one.partition("'")[2].partition("'")[0] for one in told] == ["class", "double"]


async def test_tools_that_cannot_be_loaded_again_stay(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F1-03 F2-10
    clock = Clock()
    with served(small_server()) as server:
        agent = ChatAgent(Settings(mcp_url=server.url), clock=clock)
    why = (
        f"The tools of the MCP server at {server.url} could not be loaded again: ConnectionError: "
    )
    async with asyncio.timeout(SECONDS):
        while why not in caplog.text:
            clock.now += 60
            await passed(agent)
    assert {one.levelno for one in caplog.records if one.name[:5] == "agent"} == {logging.WARNING}
    assert names(agent) == NAMES
    with served(small_server(), server.port):
        assert "tea tea" in await agent.reply('Double "tea"')


async def test_what_a_turn_waited_for_newer_tools_its_call_does_not_wait_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-06 S1-048
    # One after the other they would be longer than the 5 s by more than a slow machine adds to the longer one.
    monkeypatch.setattr("agent.chat_agent.RETRY_WAIT_SECONDS", 2.5)
    monkeypatch.setattr("agent.tool_server.CONNECT_SECONDS", 3.0)
    with listing(DOUBLE) as server:
        clock = Clock()
        agent = ChatAgent(Settings(mcp_url=server.url), clock=clock)
        server.always = Reply(hang=True)
        clock.now += 60
        beside, began = Waiting(), time.monotonic()
        assert texts.TOOLS_UNAVAILABLE in await agent.reply('Double "tea"')
        assert beside.in_time(time.monotonic() - began)
