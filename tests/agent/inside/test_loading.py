"""How the tools of a server come into an agent."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from langchain_core.tools import BaseTool, tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.server.fastmcp import FastMCP

from agent.chat_agent import ChatAgent
from agent.mcp_tools import McpTool
from agent.routed import RoutedTurns
from agent.settings import Settings
from agent.states import AgentState, McpState
from agent.tool_server import NAME, TRANSPORT, ToolServer
from tests.agent.inside.patience import Waiting
from tests.agent.inside.servers import Served, listing, served, small_server
from tests.agent.inside.test_breaker import Clock

NAMES = ["double", "fails", "hangs"]
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}}


@tool
def clock() -> str:
    """Tells the time."""
    return "noon"


@tool("double")
def own_double(word: str) -> str:
    """Doubles a word here."""
    return f"own {word}"


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    with served(small_server()) as running:
        yield running


def agent_of(server: Any, *tools: BaseTool) -> ChatAgent:
    return ChatAgent(Settings(mcp_url=server.url), tools)


def names(agent: ChatAgent) -> list[str]:
    return [one.name for one in agent.tools]


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(one.levelno, one.getMessage()) for one in caplog.records if one.name[:5] == "agent"]


def test_the_tools_of_the_server_follow_the_own_ones(
    small: Served, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-009 S1-013 S1-015 S1-023 S1-033 S1-039 S1-040 F1-02 F1-07
    agent = agent_of(small, clock)
    assert names(agent) == ["clock", *NAMES]
    assert (agent.state, agent.mcp_state) == (AgentState.WITH_MCP, McpState.CONNECTED)
    assert logged(caplog) == []


def test_loading_uses_the_adapters_client_over_streamable_http(small: Served) -> None:
    # S1-010 S1-011 S1-029 C04
    agent = agent_of(small)
    assert isinstance(agent.mcp_client, MultiServerMCPClient)
    assert agent.mcp_client.connections[NAME]["transport"] == TRANSPORT == "streamable_http"
    assert [one.name for one in agent._load_mcp_tools()] == NAMES


def test_an_address_from_which_requests_are_sent_on_is_followed(small: Served) -> None:
    # S1-010 F1-02
    agent = ChatAgent(Settings(mcp_url=f"{small.url}/"))
    assert names(agent) == NAMES
    assert agent.tools[0].invoke({"word": "tea"}) == "tea tea"
    assert agent.mcp_state is McpState.CONNECTED


def test_nothing_of_a_connection_is_left_after_loading() -> None:
    # S1-012 S1-045 S1-047 C12
    sessions = small_server()
    sessions.settings.stateless_http = False
    with served(sessions) as server:
        agent = agent_of(server)
        assert names(agent) == NAMES
        opened = {one["mcp-session-id"] for one in server.headers if "mcp-session-id" in one}
        assert len(opened) == 1
        assert [one for one in server.headers if one["method"] == "DELETE"]
        # Each call has a session of its own, and both see the same server.
        double = next(one for one in agent.tools if one.name == "double")
        assert [double.invoke({"word": word}) for word in ("a", "b")] == ["a a", "b b"]
        later = {one["mcp-session-id"] for one in server.headers if "mcp-session-id" in one}
        assert len(later) == 3


def test_a_server_s_tool_replaces_the_own_one_of_its_name(
    small: Served, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-018 S1-021 S1-027 S1-031 S1-044 F1-04 F1-07 C01
    agent = agent_of(small, own_double, clock)
    assert names(agent) == ["clock", *NAMES]
    assert agent.tools[1].invoke({"word": "tea"}) == "tea tea"
    warning = "MCP tool 'double' conflicts with existing tool, MCP tool will be used"
    assert logged(caplog) == [(logging.WARNING, warning)]


class OwnToolsOnly(RoutedTurns):
    """Cannot be made with a tool of a server."""

    def __init__(self, tools: Sequence[BaseTool], *given: Any, **named: Any) -> None:
        if any(isinstance(one, McpTool) for one in tools):
            raise LookupError("no such part")
        super().__init__(tools, *given, **named)


def test_tools_that_cannot_be_used_are_logged_and_done_without(
    small: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-038 F1-03 F1-11
    monkeypatch.setattr("agent.chat_agent.RoutedTurns", OwnToolsOnly)
    agent = agent_of(small, clock, own_double)
    assert names(agent) == ["clock", "double"]
    assert (agent.state, agent.mcp_state) == (AgentState.MCP_FAILED, McpState.FAILED)
    assert agent.mcp_client is None
    told = [text for level, text in logged(caplog) if level == logging.ERROR]
    assert told == [
        f"No MCP tools from {small.url}: its tools cannot be used: LookupError: no such part."
        " The agent goes on without them"
    ]


async def test_tools_that_could_not_be_used_are_tried_again_and_said_each_time(
    small: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # F1-03 F2-10
    time = Clock()
    with monkeypatch.context() as patched:
        patched.setattr("agent.chat_agent.RoutedTurns", OwnToolsOnly)
        agent = ChatAgent(Settings(mcp_url=small.url), clock=time)
        while caplog.text.count("its tools cannot be used") < 2:
            time.now += 10
            await agent.reply("Hello")
        assert names(agent) == []
    while names(agent) != NAMES:
        time.now += 10
        await agent.reply("Hello")
    assert agent.mcp_state is McpState.CONNECTED


async def test_what_else_goes_wrong_while_tools_are_loaded_again_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # F1-03 F2-10
    time = Clock()
    agent = ChatAgent(Settings(mcp_url="http://127.0.0.1:9/mcp"), clock=time)

    def broken(*given: Any, **named: Any) -> None:
        raise LookupError("no such part")

    monkeypatch.setattr("agent.chat_agent.RoutedTurns", broken)
    while "The tools could not be loaded again" not in caplog.text:
        time.now += 10
        assert await agent.reply("Hello")
    assert "LookupError: no such part" in caplog.text


def test_tools_are_langchain_tools_with_the_server_s_schema(small: Served) -> None:
    # S1-020 S1-022 S1-026
    double = agent_of(small).tools[0]
    assert isinstance(double, BaseTool)
    assert (double.name, double.description) == ("double", "Says a word twice.")
    assert isinstance(double.args_schema, dict)
    assert double.args_schema["required"] == ["word"]
    assert double.args == {"word": {"title": "Word", "type": "string"}}


def test_what_happens_at_a_start_happens_in_this_order(
    small: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S1-028 S1-032
    steps: list[str] = []
    for step in ("_load_mcp_tools", "_merge_tools", "_initialize_agent"):
        original = getattr(ChatAgent, step)

        def kept(self: ChatAgent, *given: Any, step: str = step, run: Any = original) -> Any:
            assert self.settings.mcp_url == small.url
            assert self.state is AgentState.UNINITIALIZED
            steps.append(f"{step} {len(getattr(self, 'tools', ()))}")
            return run(self, *given)

        monkeypatch.setattr(ChatAgent, step, kept)
    assert agent_of(small, clock).state is AgentState.WITH_MCP
    assert steps == ["_load_mcp_tools 1", "_merge_tools 1", "_initialize_agent 4"]


def test_the_states_are_these_and_loading_passes_through_connecting(
    small: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S1-039 S1-040 C05
    assert [state.value for state in AgentState] == [
        "Uninitialized",
        "Initialized (No MCP)",
        "Initialized (With MCP)",
        "Initialized (MCP Failed)",
    ]
    assert [state.value for state in McpState] == [
        "Not Configured",
        "Connecting",
        "Connected",
        "Failed",
    ]
    seen: list[McpState] = []
    client = ToolServer.client

    def watched(self: ToolServer, **session: Any) -> MultiServerMCPClient:
        seen.append(agent.mcp_state)
        return client(self, **session)

    agent = agent_of(small)
    monkeypatch.setattr(ToolServer, "client", watched)
    agent.load_tools()
    assert seen[0] is McpState.CONNECTING
    assert agent.mcp_state is McpState.CONNECTED


def test_the_loader_leaves_the_agent_s_list_alone(small: Served) -> None:
    # F1-06
    agent = agent_of(small, clock)
    before = list(agent.tools)
    found = agent._load_mcp_tools()
    assert isinstance(found, list)
    assert agent.tools == before
    assert found is not agent.tools


async def test_an_agent_can_be_made_inside_a_running_loop(small: Served) -> None:
    # S1-046
    assert asyncio.get_running_loop().is_running()
    assert names(agent_of(small)) == NAMES


def test_without_an_address_nothing_is_built_nothing_logged_and_all_is_as_before(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-005 S1-014 S1-017 S1-041 F1-01 F1-09
    caplog.set_level(logging.DEBUG)

    def built(*given: Any, **named: Any) -> None:
        raise AssertionError("a client was built")

    monkeypatch.setattr(MultiServerMCPClient, "__init__", built)
    for url in (None, "", "  "):
        agent = ChatAgent(Settings(mcp_url=url), [clock, own_double])
        assert agent.tools == [clock, own_double]
        assert agent.mcp_client is None
        assert (agent.state, agent.mcp_state) == (AgentState.NO_MCP, McpState.NOT_CONFIGURED)
    assert ChatAgent(Settings()).tools == []
    assert [one for one in caplog.records if one.name.split(".")[0] in {"agent", "mcp"}] == []


def test_a_server_without_tools_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    # S1-037 F1-05
    with served(FastMCP("empty", stateless_http=True)) as server:
        beside, began = Waiting(), time.monotonic()
        agent = agent_of(server, clock)
        assert beside.in_time(time.monotonic() - began)
        assert agent.tools == [clock]
        assert (agent.state, agent.mcp_state) == (AgentState.WITH_MCP, McpState.CONNECTED)
        text = f"The MCP server at {server.url} offers no tools"
        assert logged(caplog) == [(logging.WARNING, text)]


def test_a_bad_definition_costs_that_tool_alone(caplog: pytest.LogCaptureFixture) -> None:
    # F1-11 S1-025
    good = {"name": "good", "description": "Does good.", "inputSchema": SCHEMA}
    bad: list[Any] = [
        {"name": "list_schema", "inputSchema": []},
        {"name": "no_schema"},
        {"name": "text", "inputSchema": {"type": "string"}},
        {"name": "odd", "inputSchema": {"type": "object", "properties": {"x": {"type": "no"}}}},
        {"name": "lost", "inputSchema": {**SCHEMA, "properties": {"x": {"$ref": "#/$defs/y"}}}},
        {"name": "class", "inputSchema": SCHEMA},
        {"name": 7, "inputSchema": SCHEMA},
        {"inputSchema": SCHEMA},
        "nonsense",
        good,
    ]
    with listing(good, *bad) as server:
        agent = agent_of(server)
    assert names(agent) == ["good"]
    assert agent.mcp_state is McpState.CONNECTED
    told = logged(caplog)
    assert len(told) == len(bad)
    assert {level for level, _ in told} == {logging.ERROR}
    for name in ("list_schema", "no_schema", "text", "odd", "lost", "class", "(no name)", "good"):
        assert any(text.startswith(f"MCP tool '{name}' was left out: ") for _, text in told), name


@pytest.mark.parametrize(
    "odd",
    [
        {"$schema": 5},
        {"$schema": ["x"]},
        {"$schema": "http://[bad"},
        {"properties": {"x": {"pattern": "a{99999999999999999999}"}}},
    ],
    ids=["a number", "a list", "no address", "too many"],
)
def test_a_definition_that_nobody_can_check_costs_that_tool_alone(
    odd: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    # F1-11 S1-025
    with listing(
        {"name": "odd", "inputSchema": {**SCHEMA, **odd}}, {"name": "good", "inputSchema": SCHEMA}
    ) as server:
        agent = agent_of(server)
    assert names(agent) == ["good"]
    ((level, text),) = logged(caplog)
    assert level == logging.ERROR
    assert text.startswith("MCP tool 'odd' was left out: ")


def test_a_pattern_that_only_javascript_can_read_costs_no_tool(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F1-10 F1-11
    kept = {"type": "string", "pattern": "^[a-z]+$"}
    named = {"type": "string", "minLength": 1, "pattern": r"^[\p{L}\p{N} ._-]+$"}
    one_of = {"anyOf": [named, {"type": "null"}]}
    properties = {"pattern": kept, "name": named, "other": one_of}
    schema = {"type": "object", "properties": properties}
    with listing({"name": "budget", "inputSchema": schema}) as server:
        (tool,) = agent_of(server).tools
    assert logged(caplog) == []
    text = {"type": "string", "minLength": 1}
    taken = {"pattern": kept, "name": text, "other": {"anyOf": [text, {"type": "null"}]}}
    assert tool.args_schema == {"type": "object", "properties": taken}


def referring(levels: int) -> dict[str, Any]:
    """A schema in which each definition refers twice to the one before."""
    before = ({"$ref": f"#/$defs/d{level}"} for level in range(levels))
    defined = {
        f"d{level}": {"type": "object", "properties": {"a": one, "b": one}}
        for level, one in enumerate(before, 1)
    }
    top = {"x": {"$ref": f"#/$defs/d{levels}"}}
    return {"type": "object", "properties": top, "$defs": {"d0": {"type": "string"}, **defined}}


def among(count: int) -> dict[str, Any]:
    """A schema in which each definition refers to all."""
    to_all = {f"p{one}": {"$ref": f"#/$defs/d{one}"} for one in range(count)}
    defined = {f"d{one}": {"type": "object", "properties": to_all} for one in range(count)}
    return {"type": "object", "properties": to_all, "$defs": defined}


def test_a_schema_that_grows_without_end_costs_that_tool_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F1-11
    schemas = {"good": SCHEMA, "tower": referring(24), "web": among(12), "small": referring(6)}
    tree = {**SCHEMA, "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    listed = {**schemas, "tree": tree}
    with listing(*({"name": key, "inputSchema": one} for key, one in listed.items())) as server:
        agent = agent_of(server)
    assert names(agent) == ["good", "small", "tree"]
    why = "its inputSchema has more than 10000 parts, references followed"
    assert logged(caplog) == [
        (logging.ERROR, f"MCP tool '{name}' was left out: {why}") for name in ("tower", "web")
    ]


def test_names_that_are_no_identifiers_get_one(caplog: pytest.LogCaptureFixture) -> None:
    # S1-025 C01
    given = ["a-b", "a_b", "a.b", "2nd", "größe", "x" * 80]
    with listing(*({"name": name, "inputSchema": SCHEMA} for name in given)) as server:
        agent = agent_of(server)
    found = names(agent)
    assert found[:5] == ["a_b_2", "a_b", "a_b_3", "_2nd", "gr__e"]
    assert all(name.isidentifier() and len(name) <= 64 for name in found)
    assert [one.remote_name for one in agent.tools if isinstance(one, McpTool)] == given
    assert logged(caplog) == []


def test_a_long_list_is_read_to_its_end() -> None:
    # F1-10
    mcp = FastMCP("many", stateless_http=True)
    for number in range(120):
        mcp.tool(name=f"tool_{number}")(lambda: "x")
    with served(mcp) as server:
        assert len(agent_of(server).tools) == 120


def test_every_request_carries_the_headers_of_the_settings() -> None:
    # F1-11
    with served(small_server()) as server:
        agent = ChatAgent(Settings(mcp_url=server.url, mcp_headers={"Authorization": "Bearer k"}))
        assert agent.tools[0].invoke({"word": "a"}) == "a a"
        assert {one["authorization"] for one in server.headers} == {"Bearer k"}
        assert len(server.asked("tools/call")) == 1
        assert len(server.asked("tools/list")) == 1
