"""What a tool needs is not there, as the control plane tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from agent.chat_agent import ChatAgent
from agent.events import Done, Error, Event
from agent.plain import AWAY
from agent.settings import Settings
from tests.agent.inside.servers import handshake
from tests.agent.scripts import Script
from tests.http_server import HttpServer, Reply, http_server, json_reply
from tests.openai_server import openai_server

FRIENDLY = "Unable to access todo database. Please try again later."
ASKED = "List all todos"
TOOL = {
    "name": "list_todos",
    "description": "Lists all todos.",
    "inputSchema": {"type": "object", "properties": {}},
}


def rpc(result: object) -> Reply:
    return json_reply({"jsonrpc": "2.0", "id": 1, "result": result})


@contextmanager
def failing(code: int) -> Iterator[HttpServer]:
    """A server with one tool, which fails with this code."""
    error = {"error": {"code": code, "message": FRIENDLY, "data": {"retry_after": 5}}}
    failed = {"content": [{"type": "text", "text": json.dumps(error)}], "isError": True}
    with http_server() as server:
        server.behave(*handshake(), rpc({"tools": [TOOL]}), *handshake(), rpc(failed))
        yield server


async def turn(agent: ChatAgent) -> tuple[Sequence[str], Event]:
    """The errors of a turn, and its end."""
    events = [event async for event in agent.stream(ASKED)]
    return [one.error for one in events if isinstance(one, Error)], events[-1]


@pytest.mark.parametrize(("code", "errors"), [(AWAY, [FRIENDLY]), (-32000, [])])
@pytest.mark.parametrize("modelled", [True, False], ids=["with a model", "without"])
async def test_a_turn_is_degraded_where_what_its_tool_needs_is_not_there(
    code: int, errors: Sequence[str], modelled: bool
) -> None:
    # F2-06 F2-10 C17
    with (
        failing(code) as server,
        openai_server(script=Script({ASKED: [("list_todos", {})]})) as model,
    ):
        url = f"{server.url}/mcp"
        given = Settings(mcp_url=url, model="scripted", model_base_url=model.url)
        told, end = await turn(ChatAgent(given if modelled else Settings(mcp_url=url)))
    assert told == errors
    assert isinstance(end, Done)
    assert end.status == ("degraded" if errors else "ok")
    assert FRIENDLY in end.final_output
