"""A conversation of who uses no MCP, event by event as it has always been."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.tools import tool

from agent import tool_server, watched
from agent.chat_agent import ChatAgent
from agent.settings import Settings
from agent.states import AgentState
from tests.agent.scripts import Script
from tests.openai_server import openai_server

SCRIPT = Script({"Say tea twice": [("double", {"word": "tea"})], "Fail": [("fails", {})]})
IDS = {"request_id": "r-1", "thread_id": "t"}


@tool
def double(word: str) -> str:
    """Says a word twice."""
    return f"{word} {word}"


@tool
def fails() -> str:
    """Fails always."""
    raise KeyError("inside")


def thinking(content: str) -> tuple[str, Any]:
    return "THINKING", {"content": content}


def called(**told: Any) -> tuple[str, Any]:
    return "TOOL_CALL", {"id": "call_0", **told}


def said(text: str) -> list[tuple[str, Any]]:
    """In pieces, as the model sends them."""
    pieces = [text[place : place + 7] for place in range(0, len(text), 7)]
    done = {"final_output": text, "status": "ok", **IDS}
    return [*(("RESPONSE_DELTA", {"text": piece}) for piece in pieces), ("DONE", done)]


CONVERSATION = [
    ("Hello", [thinking("Asking the language model"), *said("I heard: Hello")]),
    (
        "Say tea twice",
        [
            thinking("Asking the language model"),
            called(tool_name="double", status="IN_PROGRESS", args={"word": "tea"}),
            called(tool_name="double", status="COMPLETED", result="tea tea"),
            thinking("Reading what double answered"),
            *said("The tool says: tea tea"),
        ],
    ),
    (
        "Fail",
        [
            thinking("Asking the language model"),
            called(tool_name="fails", status="IN_PROGRESS", args={}),
            called(
                tool_name="fails",
                status="FAILED",
                error="The tool failed in a way that was not expected.",
            ),
            thinking("Reading what fails answered"),
            *said("The tool says: The tool failed in a way that was not expected."),
        ],
    ),
]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"MCP_URL": ""},
        {"MCP_API_KEY": "hüsh", "MCP_HEADERS": "nonsense"},
    ],
    ids=["unset", "empty", "with headers for nobody"],
)
async def test_without_an_address_a_conversation_goes_as_it_was_written_down(
    environment: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # S1-041 F1-09 F2-22
    def used(*given: Any, **named: Any) -> None:
        raise AssertionError("MCP was used")

    monkeypatch.setattr(tool_server.ToolServer, "__init__", used)
    monkeypatch.setattr(watched.WatchedClient, "__init__", used)
    with openai_server(script=SCRIPT) as model:
        named = {"MODEL": "openai:scripted", "MODEL_BASE_URL": model.url}
        agent = ChatAgent(Settings.from_environment({**environment, **named}), [double, fails])
        assert agent.state is AgentState.NO_MCP
        for message, expected in CONVERSATION:
            stream = agent.stream(message, **IDS)
            assert [(one.kind, one.data()) async for one in stream] == expected
    lines = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert [one.getMessage() for one in lines] == ["The tool fails failed"]
