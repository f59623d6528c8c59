"""The chat in a terminal."""

from __future__ import annotations

from tests.agent.programs import terminal
from tests.agent.scripts import Script
from tests.openai_server import OpenAiServer


def test_lines_are_answered_and_calls_of_tools_shown(mcp_url: str, model: OpenAiServer) -> None:
    # F1-10
    model.script = Script({"Note: water the plants": [("create_todo", {"title": "Water"})]})
    done = terminal(
        "Hello\n\nNote: water the plants\n",
        MCP_URL=mcp_url,
        MODEL="openai:scripted",
        MODEL_BASE_URL=model.url,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, _, rest = done.stdout.partition("\n")
    assert first.startswith("Initialized (With MCP), ")
    assert first.endswith(" tools, openai:scripted. Ctrl-D ends the chat.")
    assert "I heard: Hello" in rest
    assert "[create_todo {'title': 'Water'}]" in rest
    assert "[create_todo answered]" in rest


def test_without_settings_it_says_what_is_missing() -> None:
    # F1-09
    done = terminal("Hello\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Initialized (No MCP), 0 tools, no language model" in done.stdout
    assert "neither a language model nor a tool" in done.stdout


def test_a_setting_that_cannot_be_used_ends_it_with_a_reason() -> None:
    done = terminal("", MODEL="nobody:large")
    assert done.returncode == 2
    assert "MODEL nobody:large cannot be used" in done.stderr
