"""The surface over HTTP, around an agent in this process."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from langchain_core.tools import tool
from mcp.server.fastmcp import FastMCP

from agent import texts
from agent.as_json import written
from agent.chat_agent import ChatAgent
from agent.events import Done
from agent.serve import application
from agent.settings import Settings
from tests.agent.inside.servers import served
from tests.agent.inside.test_breaker import Clock
from tests.http_server import Reply, http_server
from tests.openai_server import openai_server


@tool
def list_birds() -> str:
    """Lists all birds."""
    return "half a pair: \ud83d"


@tool
def wait(hours: float, days: float) -> str:
    """Waits."""
    return "waited"


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
            while len(server.asked) < 2:
                await asyncio.sleep(0)
            health = (await http.get("/health")).json()
        assert texts.TOOLS_UNAVAILABLE in answer.text
        assert (health["mcp"], health["status"]) == ("Connecting", "degraded")
    retry = agent._loading
    assert retry is not None
    await asyncio.wrap_future(retry)


def test_in_plain_code_too_a_turn_does_not_wait_until_a_server_that_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # F2-06 S1-046
    monkeypatch.setattr("agent.chat_agent.RETRY_WAIT_SECONDS", 0.1)
    time = Clock()
    with http_server(always=Reply(hang=True)) as server:
        server.behave(Reply(500))
        agent = ChatAgent(Settings(mcp_url=f"{server.url}/mcp"), clock=time)
        time.now += 10
        assert asyncio.run(agent.reply("List all birds")) == texts.TOOLS_UNAVAILABLE
        assert server.under_way.wait(20)
        assert not server.hung_up.is_set()


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

    monkeypatch.setattr(ChatAgent, "_see_to_the_tools", broken)
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


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


async def test_numbers_that_json_has_not_are_told_as_texts() -> None:
    # F2-22
    function = {"name": "wait", "arguments": '{"hours": NaN, "days": -Infinity}'}
    call = {"index": 0, "id": "call_0", "type": "function", "function": function}
    done = [{"content": "Waited."}]

    def script(sent: Any) -> Any:
        return done if sent["messages"][-1]["role"] == "tool" else [{"tool_calls": [call]}]

    with openai_server(script=script) as model:
        settings = Settings(model="openai:scripted", model_base_url=model.url)
        async with client(ChatAgent(settings, [wait])) as http:
            answer = await http.post("/chat/stream", json={"message": "Wait"})
    data = [
        json.loads(line.removeprefix("data: "), parse_constant=no_constant)
        for line in answer.text.splitlines()
        if line.startswith("data: ")
    ]
    assert data[-1]["final_output"] == "Waited."
    (started,) = [one for one in data if one.get("status") == "IN_PROGRESS"]
    assert started["args"] == {"hours": "NaN", "days": "-Infinity"}


def test_whatever_a_call_was_given_can_be_read() -> None:
    # F2-22
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    given = {"deep": deep, "huge": 10**6000, "set": {1}, "inf": float("inf"), "fine": [1.5, None]}
    read = json.loads(written(given), parse_constant=no_constant)
    assert read.pop("deep")
    assert read == {"huge": "(int)", "set": "(set)", "inf": "Infinity", "fine": [1.5, None]}
