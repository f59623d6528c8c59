"""What a hostile server says cannot pass for lines of the log, nor fill it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.tools import ToolException

from agent.chat_agent import ChatAgent
from agent.logs import LONGEST
from agent.mcp_tools import MOST_NAMED, Link
from agent.settings import Settings
from agent.tool_server import ToolServer
from tests.agent.inside.servers import answer_to, handshake, listing
from tests.http_server import HttpServer, Reply, http_server, json_reply
from tests.openai_server import Fault, openai_server

FORGED = "x\n2027-01-01 00:00:00 ERROR all is lost\u2028\x85\r\x1b[2J"
LONG = "x" * 300_000
# The words around what somebody else wrote: two such parts at most, and an address.
WORDS = 200


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the agent logged, each a short line of nothing but what can be seen."""
    found = [one.getMessage() for one in caplog.records if one.name.startswith("agent")]
    assert all(one.isprintable() and len(one) <= 2 * LONGEST + WORDS for one in found), found
    return found


@pytest.mark.parametrize("name", [FORGED, LONG])
def test_the_name_of_a_tool_is_one_short_line(name: str, caplog: pytest.LogCaptureFixture) -> None:
    # F1-11
    with listing({"name": name}) as server:
        ChatAgent(Settings(mcp_url=server.url))
    left_out, _ = lines(caplog)
    assert left_out.startswith("MCP tool 'x")
    assert left_out.endswith("' was left out: its inputSchema is not an object")


def test_what_is_wrong_with_a_schema_is_one_short_line(caplog: pytest.LogCaptureFixture) -> None:
    # F1-11
    schema = {"type": "object", "properties": {"x": {"enum": FORGED + LONG}}}
    with listing({"name": "odd", "inputSchema": schema}) as server:
        ChatAgent(Settings(mcp_url=server.url))
    left_out, _ = lines(caplog)
    assert left_out.startswith("MCP tool 'odd' was left out: its inputSchema is no JSON Schema: ")
    assert left_out.endswith("…")


def test_of_many_bad_tools_the_first_are_named_and_the_others_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F1-11
    with listing(*({"name": f"bad_{number}"} for number in range(5000))) as server:
        ChatAgent(Settings(mcp_url=server.url))
    *named, counted, _ = lines(caplog)
    assert len(named) == MOST_NAMED == 10
    assert counted == "4990 more MCP tools were left out"


def failing(text: str) -> Any:
    return {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": text}}


@pytest.mark.parametrize("text", [FORGED, LONG])
def test_an_error_that_a_server_words_itself_is_one_short_line(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-038
    with http_server() as server:
        server.behave(json_reply(failing(text)))
        ChatAgent(Settings(mcp_url=f"{server.url}/mcp"))
    (told,) = lines(caplog)
    assert "McpError: x" in told
    assert told.endswith("The agent goes on without them")


def odd_answer(server: HttpServer) -> None:
    body = answer_to(1, "x").replace(b'"text": "x"', b'"text": [' + LONG.encode() + b"]", 1)
    server.behave(*handshake(), Reply(200, body))


async def test_an_answer_that_cannot_be_read_is_one_short_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with http_server() as server:
        odd_answer(server)
        with pytest.raises(ToolException):
            await Link(ToolServer(f"{server.url}/mcp")).call(FORGED, {})
    (told,) = lines(caplog)
    assert told.startswith("MCP server was lost during a call of 'x 2027")


async def test_what_a_model_says_of_its_failure_is_one_short_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fault = Fault(status=400, error={"message": FORGED + LONG})
    with openai_server(always=fault) as model:
        settings = Settings(model="openai:scripted", model_base_url=model.url)
        await ChatAgent(settings).reply("Hello")
    (told,) = lines(caplog)
    assert told.startswith("The language model failed: OpenAIInvalidRequestError: ")
    assert [one.levelno for one in caplog.records if one.name[:5] == "agent"] == [logging.ERROR]
