"""Whatever a server does, the agent starts in time, says what was wrong, and goes on."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from langchain_core.tools import tool
from mcp.server.fastmcp import FastMCP

from agent import texts
from agent.chat_agent import ChatAgent
from agent.mcp_tools import McpTool
from agent.settings import Settings
from agent.states import AgentState, McpState
from agent.tool_server import ToolServer
from tests.agent.inside.patience import Waiting
from tests.agent.inside.servers import handshake, served, small_server
from tests.http_server import Reply, http_server, json_reply


@tool
def clock() -> str:
    """Tells the time."""
    return "noon"


@contextmanager
def answering(*replies: Reply) -> Iterator[str]:
    with http_server(always=replies[-1]) as server:
        server.behave(*replies[:-1])
        yield f"{server.url}/mcp"


@contextmanager
def nobody() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def address(text: str) -> Iterator[str]:
    yield text


def garbage(body: bytes, kind: str = "application/json") -> Reply:
    return Reply(200, body, kind)


FAULTS = {
    "dead port": (nobody(), "cannot connect: "),
    "hangs": (answering(Reply(hang=True)), "it did not answer within 5 seconds"),
    "hangs later": (
        answering(*handshake(), Reply(hang=True)),
        "it did not answer within 5 seconds",
    ),
    "a page": (answering(garbage(b"<html>", "text/html")), "RuntimeError: "),
    "broken JSON": (answering(garbage(b"{no")), "RuntimeError: "),
    "deep JSON": (answering(garbage(b"[" * 200_000)), "RuntimeError: "),
    "other JSON": (answering(garbage(b'{"a": 1}')), "RuntimeError: "),
    "broken event": (answering(garbage(b"data: no\n\n", "text/event-stream")), "RuntimeError: "),
    "not HTTP": (answering(Reply(raw=b"220 mail ready\r\n")), "cannot connect: "),
    "drops": (answering(Reply(drop=True)), "cannot connect: "),
    "an odd list": (
        answering(
            *handshake(), json_reply({"jsonrpc": "2.0", "id": 1, "result": {"tools": "three"}})
        ),
        "RuntimeError: ValidationError",
    ),
    "an error": (
        answering(
            json_reply({"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": "sorry"}})
        ),
        "McpError: sorry",
    ),
    "not a url": (address("not a url"), "MCP_URL is not the address of a server: "),
    "no port": (address("http://127.0.0.1:99999/mcp"), "MCP_URL is not the address of a server: "),
    "no host": (address("http://nobody.invalid/mcp"), "cannot connect: "),
    "401": (
        answering(Reply(401)),
        "cannot connect: it answered 401 Unauthorized; MCP_API_KEY holds the key it wants",
    ),
    "403": (answering(Reply(403)), "cannot connect: it answered 403 Forbidden"),
    "404": (answering(Reply(404)), "cannot connect: it answered 404 Not Found"),
    "500": (answering(Reply(500)), "cannot connect: it answered 500 Internal Server Error"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_cannot_be_used_is_logged_and_done_without(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-016 S1-019 S1-030 S1-034 S1-035 S1-036 S1-038 S1-039 S1-040 S1-042 S1-043 F1-03 F1-06 F1-11 C10
    server, reason = FAULTS[fault]
    with server as url:
        beside, began = Waiting(), time.monotonic()
        agent = ChatAgent(Settings(mcp_url=url), [clock])
        assert beside.in_time(time.monotonic() - began)
    assert agent.tools == [clock]
    assert agent.mcp_client is None
    assert (agent.state, agent.mcp_state) == (AgentState.MCP_FAILED, McpState.FAILED)
    (record,) = [one for one in caplog.records if one.name.startswith("agent")]
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith(f"No MCP tools from {url}: {reason}")
    assert record.getMessage().endswith("The agent goes on without them")


def test_any_other_exception_is_logged_with_its_details(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-038 S1-043
    def broken(self: ToolServer, **given: object) -> None:
        raise LookupError("no such luck")

    monkeypatch.setattr(ToolServer, "client", broken)
    agent = ChatAgent(Settings(mcp_url="http://127.0.0.1:9/mcp"))
    assert agent.tools == []
    assert "LookupError: no such luck" in caplog.text


def test_a_name_that_takes_forever_to_look_up_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-042
    released = threading.Event()
    original = socket.getaddrinfo

    def slow(*given: object, **named: object) -> object:
        released.wait(60)
        return original(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    # The thread that looks it up cannot be cancelled, only left behind.
    monkeypatch.setattr("agent.chat_agent.LOAD_SECONDS", 0.1)
    agent = ChatAgent(Settings(mcp_url="http://slow.invalid/mcp"))
    released.set()
    assert agent.state is AgentState.MCP_FAILED
    assert "it did not answer within 5 seconds" in caplog.text


def test_a_secret_in_an_address_stays_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    ChatAgent(Settings(mcp_url="http://me:hush@127.0.0.1:9/mcp?key=hush"))
    assert "hush" not in caplog.text
    assert "http://127.0.0.1:9/mcp" in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "me:hush@127.0.0.1:9/mcp",
        "http://me:hu/hush@127.0.0.1:9/mcp",
        "http://me:hush?hush@127.0.0.1:9/mcp",
        "http://me:hush@[127.0.0.1/mcp",
        "http:\\\\me:hush@127.0.0.1:9/mcp",
        "http://me:hush@127.0.0.1:hush/mcp?key=hush#hush@",
    ],
)
def test_a_password_in_a_misspelt_address_stays_out_of_the_log(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent = ChatAgent(Settings(mcp_url=url, model_base_url=url))
    assert agent.state is AgentState.MCP_FAILED
    assert "hush" not in caplog.text
    assert "hush" not in repr(agent.settings)


def test_a_key_that_cannot_be_sent_stays_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    headers = {"Authorization": "Bearer hush\nhush"}
    with http_server() as server:
        ChatAgent(Settings(mcp_url=f"{server.url}/mcp", mcp_headers=headers))
    assert "a header cannot be sent as it is" in caplog.text
    assert "hush" not in caplog.text


def test_tools_do_not_show_how_their_server_is_reached() -> None:
    with served(small_server()) as server:
        url = server.url.replace("http://", "http://me:hush@")
        agent = ChatAgent(Settings(mcp_url=url, mcp_headers={"X-Key": "hush"}))
    assert len(agent.tools) == 3
    assert "hush" not in repr(agent.tools)


def states(agent: ChatAgent, tool: McpTool) -> tuple[AgentState, McpState, bool]:
    return agent.state, agent.mcp_state, tool.available


def test_a_server_lost_in_between_is_an_error_of_the_tool_and_works_again_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # S1-024 S1-048 F1-03 F1-11 F2-06
    with served(small_server()) as server:
        agent = ChatAgent(Settings(mcp_url=server.url))
        double = agent.tools[0]
        assert isinstance(double, McpTool)
        assert double.invoke({"word": "a"}) == "a a"
    assert double.invoke({"word": "a"}) == texts.TOOLS_UNAVAILABLE
    assert states(agent, double) == (AgentState.MCP_FAILED, McpState.FAILED, False)
    assert "MCP server was lost during a call of 'double'" in caplog.text
    with served(small_server(), server.port):
        assert double.invoke({"word": "b"}) == "b b"
    assert states(agent, double) == (AgentState.WITH_MCP, McpState.CONNECTED, True)


def test_a_tool_s_own_failure_is_told_and_the_server_counts_as_there() -> None:
    # S1-048
    with served(small_server()) as server:
        agent = ChatAgent(Settings(mcp_url=server.url))
        fails = next(one for one in agent.tools if one.name == "fails")
        call = {"type": "tool_call", "id": "1", "name": "fails", "args": {}}
        message = fails.invoke(call)
        assert message.status == "error"
        assert "the drawer is stuck" in message.content
        assert agent.mcp_state is McpState.CONNECTED


def test_a_tool_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # C10
    monkeypatch.setattr("agent.mcp_tools.CALL_SECONDS", 0.2)
    with served(small_server()) as server:
        agent = ChatAgent(Settings(mcp_url=server.url))
        hangs = next(one for one in agent.tools if one.name == "hangs")
        assert hangs.invoke({}) == texts.TOOL_TIMED_OUT
        assert agent.mcp_state is McpState.CONNECTED


def test_arguments_may_have_any_names() -> None:
    # F1-10
    mcp = FastMCP("odd", stateless_http=True)

    @mcp.tool()
    def film(config: str, runtime: int, run_manager: str) -> str:
        """Describes a film."""
        return f"{config} {runtime} {run_manager}"

    with served(mcp) as server:
        (found,) = ChatAgent(Settings(mcp_url=server.url)).tools
        given = {"config": "a", "runtime": 90, "run_manager": "b"}
        assert found.invoke(given) == "a 90 b"
