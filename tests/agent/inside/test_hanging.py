"""A server that takes requests and answers none: nobody waits for it longer than was said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from langchain_core.tools import ToolException
from mcp.server.fastmcp import FastMCP

from agent import texts
from agent.chat_agent import ChatAgent
from agent.events import Done
from agent.mcp_tools import Link, McpTool
from agent.settings import Settings
from agent.tool_server import ToolServer
from agent.waited import turn_begins
from tests.agent.inside.servers import Served, answer_to, handshake, served
from tests.http_server import Reply, http_server

# Far above what is set here, far below what a client waits by itself.
SECONDS = 20
# What a search waits in vain, and a server needs far less to greet, and an agent to ask.
SEARCHED = 3.0


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """All limits are short."""
    monkeypatch.setattr("agent.mcp_tools.CALL_SECONDS", 0.3)
    monkeypatch.setattr("agent.tool_server.CONNECT_SECONDS", 2.0)
    monkeypatch.setattr("agent.tool_server.FAREWELL_SECONDS", 0.3)


@pytest.fixture
def birds() -> Iterator[Served]:
    """Its search and one of its tools hang."""
    mcp = FastMCP("birds", stateless_http=True)

    @mcp.tool()
    async def tool_search(query: str) -> str:
        """Finds tools."""
        await asyncio.Event().wait()
        return ""

    @mcp.tool()
    def list_birds() -> str:
        """Lists all birds."""
        return "wren"

    @mcp.tool()
    async def list_storms() -> str:
        """Lists all storms."""
        await asyncio.Event().wait()
        return ""

    with served(mcp) as running:
        yield running


async def status(agent: ChatAgent, message: str) -> tuple[str, str]:
    async with asyncio.timeout(SECONDS):
        *_, last = [event async for event in agent.stream(message)]
    assert isinstance(last, Done)
    return last.status.value, last.final_output


async def test_a_call_ends_though_the_server_does_not_take_leave(hasty: None) -> None:
    # C10
    with http_server(always=Reply(hang=True)) as server:
        server.behave(*handshake(Mcp_Session_Id="one"))
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            with pytest.raises(ToolException, match=texts.TOOL_TIMED_OUT):
                await link.call("double", {})
        assert "DELETE" in [one.method for one in server.asked]
    assert not link.lost


async def test_whoever_leaves_does_not_wait_for_the_server_to_take_leave(hasty: None) -> None:
    with http_server(always=Reply(hang=True)) as server:
        server.behave(*handshake(Mcp_Session_Id="one"))
        link = Link(ToolServer(f"{server.url}/mcp"))
        call = asyncio.create_task(link.call("double", {}))
        while len(server.asked) < 3:
            await asyncio.sleep(0)
        call.cancel()
        async with asyncio.timeout(SECONDS):
            await asyncio.wait({call})
    assert call.cancelled()


async def test_a_server_that_does_not_greet_is_lost(
    hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S1-048 C10
    monkeypatch.setattr("agent.tool_server.CONNECT_SECONDS", 0.3)
    with http_server(always=Reply(hang=True)) as server:
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            with pytest.raises(ToolException, match=texts.TOOLS_UNAVAILABLE):
                await link.call("double", {})
    assert link.lost


async def test_a_search_that_hangs_keeps_no_turn_up(birds: Served) -> None:
    # F2-10 F2-14
    told, answer = await status(ChatAgent(Settings(mcp_url=birds.url)), "List all birds")
    assert told == "ok"
    assert "wren" in answer


async def test_what_a_search_waited_for_a_greeting_the_call_after_it_does_not_wait_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # F2-06 S1-048
    with http_server(always=Reply(hang=True)) as server:
        link = Link(ToolServer(f"{server.url}/mcp"))
        assert await link.call_briefly("tool_search", {"query": "tea"}, SEARCHED) is None
        # There is nothing left to wait, so it is not even asked.
        monkeypatch.setattr("agent.tool_server.CONNECT_SECONDS", SEARCHED)
        async with asyncio.timeout(SECONDS):
            with pytest.raises(ToolException, match=texts.TOOLS_UNAVAILABLE):
                await link.call("double", {})
        assert len(server.asked) == 1
    assert link.lost
    assert "MCP server was lost during a call of 'double': no answer" in caplog.text


async def test_what_one_turn_waited_for_a_greeting_is_not_taken_from_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-06 S1-048
    async def searched(link: Link) -> None:
        turn_begins()
        assert await link.call_briefly("tool_search", {"query": "tea"}, SEARCHED) is None

    async def called(link: Link) -> str:
        turn_begins()
        return str((await link.call("double", {})).structuredContent)

    with http_server() as server:
        server.behave(Reply(hang=True), *handshake(), Reply(200, answer_to(1, "tea tea")))
        link = Link(ToolServer(f"{server.url}/mcp"))
        async with asyncio.timeout(SECONDS):
            await asyncio.create_task(searched(link))
            # With what the other has waited there would be nothing left.
            monkeypatch.setattr("agent.tool_server.CONNECT_SECONDS", SEARCHED)
            assert "tea tea" in await asyncio.create_task(called(link))
        assert not link.lost


async def test_a_server_that_is_lost_is_not_searched(birds: Served) -> None:
    agent = ChatAgent(Settings(mcp_url=birds.url))
    (search,) = [one for one in agent.tools if one.name == "tool_search"]
    assert isinstance(search, McpTool)
    search.link.lost = True
    await status(agent, "List all birds")
    assert [one["params"]["name"] for one in birds.asked("tools/call")] == ["list_birds"]


async def test_without_a_model_too_a_tool_that_takes_too_long_degrades_the_turn(
    birds: Served, hasty: None
) -> None:
    # C10 C17
    told, answer = await status(ChatAgent(Settings(mcp_url=birds.url)), "List all storms")
    assert told == "degraded"
    assert texts.TOOL_TIMED_OUT in answer


async def test_a_call_may_take_as_long_as_the_settings_say(birds: Served) -> None:
    # C10
    given = {"MCP_URL": birds.url, "MCP_CALL_TIMEOUT_SECONDS": "0.3"}
    told, answer = await status(ChatAgent(Settings.from_environment(given)), "List all storms")
    assert told == "degraded"
    assert texts.TOOL_TIMED_OUT in answer
