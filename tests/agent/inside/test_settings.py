"""What the environment says, and what becomes of nonsense in it."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import pytest
from langchain_core.tools import tool
from pydantic import Field, TypeAdapter

from agent import texts
from agent.chat_agent import ChatAgent
from agent.settings import BadSetting, Settings
from agent.states import AgentState, McpState
from tests.agent.inside.test_breaker import Clock
from tests.http_server import http_server
from tests.openai_server import openai_server

HERE = {"MCP_URL": "http://127.0.0.1:9/mcp"}


@tool
def clock() -> str:
    """Tells the time."""
    return "noon"


def test_mcp_url_comes_from_the_environment_and_is_none_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # S1-001 S1-006 S1-007 S1-008 F1-01
    monkeypatch.delenv("MCP_URL", raising=False)
    assert Settings.from_environment().mcp_url is None
    monkeypatch.setenv("MCP_URL", "http://127.0.0.1:9/mcp")
    assert Settings.from_environment().mcp_url == "http://127.0.0.1:9/mcp"
    monkeypatch.setenv("MCP_URL", "")
    assert ChatAgent().settings.mcp_url is None


@pytest.mark.parametrize("empty", ["", "  ", "\t\n"])
def test_an_empty_address_is_none(empty: str) -> None:
    # S1-002 F1-01
    assert Settings(mcp_url=empty).mcp_url is None
    assert Settings.from_environment({"MCP_URL": empty}).mcp_url is None


def test_an_address_is_not_looked_at_before_it_is_used() -> None:
    # S1-003 S1-004 C11
    for odd in ("not a url", "ftp://127.0.0.1/x", "http://[", "http://127.0.0.1:99999/mcp"):
        settings = Settings.from_environment({"MCP_URL": odd})
        assert settings.mcp_url == odd
        assert ChatAgent(settings).state is AgentState.MCP_FAILED


def test_a_key_becomes_the_header_that_the_control_plane_takes_and_is_not_shown() -> None:
    # F1-11
    given = {**HERE, "MCP_API_KEY": "cp_one", "MODEL_API_KEY": "sk-two"}
    settings = Settings.from_environment(given)
    assert settings.mcp_headers == {"Authorization": "Bearer cp_one"}
    assert "cp_one" not in repr(settings)
    assert "sk-two" not in repr(settings)


def test_more_headers_are_given_as_json() -> None:
    # F1-11
    given = {**HERE, "MCP_API_KEY": "cp_one", "MCP_HEADERS": '{"X-Team": "search"}'}
    headers = Settings.from_environment(given).mcp_headers
    assert headers == {"Authorization": "Bearer cp_one", "X-Team": "search"}


@pytest.mark.parametrize("value", ["soon", "0"])
def test_a_time_that_cannot_be_read_is_named(value: str) -> None:
    with pytest.raises(BadSetting, match="MODEL_TIMEOUT_SECONDS"):
        Settings.from_environment({"MODEL_TIMEOUT_SECONDS": value})


UNUSABLE = [
    ("MCP_HEADERS", "X-Team: hush"),
    ("MCP_HEADERS", "[1]"),
    ("MCP_HEADERS", '{"X": 1}'),
    ("MCP_HEADERS", "[" * 100_000),
    ("MCP_HEADERS", '{"X-Team": "hush\\u0000"}'),
    ("MCP_HEADERS", '{"hush\\n": "x"}'),
    ("MCP_CALL_TIMEOUT_SECONDS", "hush"),
    ("MCP_CALL_TIMEOUT_SECONDS", "0"),
    ("MCP_CALL_TIMEOUT_SECONDS", "nan"),
    ("MCP_API_KEY", "hush\nhush"),
    ("MCP_API_KEY", "hüsh"),
]


@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_settings_for_a_server_that_cannot_be_used_are_named_not_shown_and_keep_no_agent_from_starting(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-019 S1-043 F1-11
    with http_server() as server:
        settings = Settings.from_environment({"MCP_URL": f"{server.url}/mcp", name: value})
        agent = ChatAgent(settings, [clock])
        assert server.asked == []
    assert (agent.state, agent.mcp_state) == (AgentState.MCP_FAILED, McpState.FAILED)
    assert agent.tools == [clock]
    (record,) = [one for one in caplog.records if one.name.startswith("agent")]
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith(f"No MCP tools from {server.url}/mcp: ")
    assert name in record.getMessage()
    assert "sh" not in caplog.text.replace(str(server.url), "")


@pytest.mark.parametrize(("name", "value"), UNUSABLE)
def test_settings_for_no_server_are_not_looked_at(
    name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    # S1-005 S1-041 F1-01 F1-09
    for url in ({}, {"MCP_URL": " "}):
        agent = ChatAgent(Settings.from_environment({**url, name: value}), [clock])
        assert (agent.state, agent.tools) == (AgentState.NO_MCP, [clock])
    assert caplog.records == []


async def test_a_server_whose_headers_cannot_be_sent_is_not_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    time = Clock()
    given = {"MCP_URL": "http://127.0.0.1:9/mcp", "MCP_HEADERS": "nonsense"}
    agent = ChatAgent(Settings.from_environment(given), clock=time)
    time.now += 10
    assert await agent.reply("Hello") == texts.TOOLS_UNAVAILABLE
    assert len(caplog.records) == 1


def test_blanks_around_the_value_of_a_header_are_left_off() -> None:
    given = {**HERE, "MCP_API_KEY": " cp_one\n", "MCP_HEADERS": '{"X-Team": " search\\n"}'}
    headers = Settings.from_environment(given).mcp_headers
    assert headers == {"Authorization": "Bearer cp_one", "X-Team": "search"}


@pytest.mark.parametrize(
    "name", ["scripted", "llama3.2:3b", "mistral:7b", "hf.co/some/Llama:Q4_K_M"]
)
@pytest.mark.parametrize("provider", ["", "openai:"])
async def test_models_behind_an_address_may_have_colons_in_their_names(
    name: str, provider: str
) -> None:
    with openai_server() as model:
        await ChatAgent(Settings(model=provider + name, model_base_url=model.url)).reply("Hello")
    ((_, sent),) = model.requests
    assert sent["model"] == name


@pytest.mark.parametrize("model", ["nobody:large", "anthropic:claude", "gpt"])
def test_a_model_that_cannot_be_used_is_named_at_the_start(model: str) -> None:
    with pytest.raises(BadSetting, match=f"MODEL {model} cannot be used"):
        ChatAgent(Settings(model=model))


def test_a_model_that_cannot_be_built_is_told_without_the_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def built(name: str, **options: Any) -> None:
        TypeAdapter(Annotated[str, Field(max_length=1)]).validate_python(options["api_key"])

    monkeypatch.setattr("agent.model.init_chat_model", built)
    with pytest.raises(BadSetting, match="String should have at most 1 character") as raised:
        ChatAgent(Settings(model="openai:scripted", model_api_key="hush"))
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODEL_API_KEY", "hüsh"),
        ("MODEL_API_KEY", "hush\x00"),
        ("MODEL_BASE_URL", "ftp://me:hush@127.0.0.1/v1"),
        ("MODEL_BASE_URL", "me:hush@127.0.0.1/v1"),
        ("MODEL_BASE_URL", "http://"),
        ("MODEL_BASE_URL", "http://me:hush@127.0.0.1:hush/v1"),
    ],
)
def test_what_no_model_can_be_reached_with_is_named_at_the_start_and_not_shown(
    name: str, value: str
) -> None:
    with pytest.raises(BadSetting, match=name) as raised:
        ChatAgent(Settings.from_environment({"MODEL": "openai:scripted", name: value}))
    assert "sh" not in str(raised.value)
