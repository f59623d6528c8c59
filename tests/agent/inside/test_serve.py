"""The surface over HTTP, around an agent in this process."""

from __future__ import annotations

import httpx
from langchain_core.tools import tool

from agent.chat_agent import ChatAgent
from agent.serve import application
from agent.settings import Settings


@tool
def list_birds() -> str:
    """Lists all birds."""
    return "half a pair: \ud83d"


def client(agent: ChatAgent) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(application(agent))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def test_an_answer_that_is_no_utf8_reaches_the_end_of_the_stream() -> None:
    # F2-22
    async with client(ChatAgent(Settings(), [list_birds])) as http:
        answer = await http.post("/chat/stream", json={"message": "List all birds"})
    assert answer.status_code == 200
    assert r"half a pair: \ud83d" in answer.text
    assert "event: DONE" in answer.text
