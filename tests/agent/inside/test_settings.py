"""What the environment says, and what becomes of nonsense in it."""

from __future__ import annotations

import pytest

from agent.chat_agent import ChatAgent
from agent.settings import BadSetting, Settings
from agent.states import AgentState


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
    settings = Settings.from_environment({"MCP_API_KEY": "cp_one", "MODEL_API_KEY": "sk-two"})
    assert settings.mcp_headers == {"Authorization": "Bearer cp_one"}
    assert "cp_one" not in repr(settings)
    assert "sk-two" not in repr(settings)


def test_more_headers_are_given_as_json() -> None:
    # F1-11
    given = {"MCP_API_KEY": "cp_one", "MCP_HEADERS": '{"X-Team": "search"}'}
    headers = Settings.from_environment(given).mcp_headers
    assert headers == {"Authorization": "Bearer cp_one", "X-Team": "search"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MCP_HEADERS", "X-Team: search"),
        ("MCP_HEADERS", "[1]"),
        ("MCP_HEADERS", '{"X": 1}'),
        ("MODEL_TIMEOUT_SECONDS", "soon"),
        ("MODEL_TIMEOUT_SECONDS", "0"),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        Settings.from_environment({name: value})


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("MCP_API_KEY", "hush\nhush", "Authorization"),
        ("MCP_API_KEY", "hüsh", "Authorization"),
        ("MCP_HEADERS", '{"X-Team": "hush\\u0000"}', "X-Team"),
        ("MCP_HEADERS", '{"hush\\n": "x"}', "MCP_HEADERS has a name"),
        ("MCP_HEADERS", "[" * 100_000, "MCP_HEADERS takes"),
    ],
)
def test_a_header_that_cannot_be_sent_is_named_and_not_shown(
    name: str, value: str, told: str
) -> None:
    with pytest.raises(BadSetting, match=told) as raised:
        Settings.from_environment({name: value})
    assert "sh" not in str(raised.value)


def test_blanks_around_the_value_of_a_header_are_left_off() -> None:
    given = {"MCP_API_KEY": " cp_one\n", "MCP_HEADERS": '{"X-Team": " search\\n"}'}
    headers = Settings.from_environment(given).mcp_headers
    assert headers == {"Authorization": "Bearer cp_one", "X-Team": "search"}


@pytest.mark.parametrize("model", ["nobody:large", "anthropic:claude", "gpt"])
def test_a_model_that_cannot_be_used_is_named_at_the_start(model: str) -> None:
    with pytest.raises(BadSetting, match=f"MODEL {model} cannot be used"):
        ChatAgent(Settings(model=model))
