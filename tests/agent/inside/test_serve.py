"""The surface over HTTP, around an agent in this process."""

from __future__ import annotations

import httpx
import pytest
from langchain_core.tools import tool
from mcp.server.fastmcp import FastMCP

from agent import texts
from agent.chat_agent import ChatAgent
from agent.events import Done
from agent.serve import application
from agent.settings import Settings
from tests.agent.inside.servers import served
from tests.agent.inside.test_breaker import Clock
from tests.http_server import Reply, http_server


@tool
def list_birds() -> str:
    """Lists all birds."""
    return "half a pair: \ud83d"


def client(agent: ChatAgent) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(application(agent))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def test_while_the_server_is_tried_again_it_counts_as_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-06 F2-10 C17
    monkeypatch.setattr("agent.chat_agent.RETRY_WAIT_SECONDS", 0.1)
    time = Clock()
    with http_server(always=Reply(hang=True)) as server:
        server.behave(Reply(500))
        agent = ChatAgent(Settings(mcp_url=f"{server.url}/mcp"), clock=time)
        time.now += 10
        async with client(agent) as http:
            answer = await http.post("/chat/stream", json={"message": "List all birds"})
            health = (await http.get("/health")).json()
        assert texts.TOOLS_UNAVAILABLE in answer.text
        assert (health["mcp"], health["status"]) == ("Connecting", "degraded")
    retry = agent._retrying
    assert retry is not None
    await retry


async def test_a_server_without_tools_is_asked_again() -> None:
    # F1-05 F2-10
    time = Clock()
    mcp = FastMCP("late", stateless_http=True)
    with served(mcp) as server:
        agent = ChatAgent(Settings(mcp_url=server.url), clock=time)
        assert await agent.reply("List all birds") == texts.NO_TOOLS
        mcp.tool(name="list_birds", description="Lists all birds.")(lambda: "wren")
        while not agent.tools:
            time.now += 10
            await agent.reply("Hello")
        assert "wren" in await agent.reply("List all birds")
        assert len(server.asked("tools/list")) == 2


async def test_a_turn_that_fails_at_its_start_ends_with_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-22
    async def broken(self: ChatAgent) -> None:
        raise LookupError("no such luck")

    monkeypatch.setattr(ChatAgent, "_try_again", broken)
    *_, last = [event async for event in ChatAgent(Settings()).stream("Hello")]
    assert isinstance(last, Done)
    assert (last.final_output, last.status) == (texts.UNEXPECTED, "degraded")


async def test_an_answer_that_is_no_utf8_reaches_the_end_of_the_stream() -> None:
    # F2-22
    async with client(ChatAgent(Settings(), [list_birds])) as http:
        answer = await http.post("/chat/stream", json={"message": "List all birds"})
    assert answer.status_code == 200
    assert r"half a pair: \ud83d" in answer.text
    assert "event: DONE" in answer.text
