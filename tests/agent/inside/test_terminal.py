"""The chat in a terminal, where no process of its own is needed to see it."""

from __future__ import annotations

import inspect
import io
import json
import logging
import re
import sys
from collections.abc import Callable, Sequence

import pytest
from langchain_core.tools import ToolException, tool

from agent import __main__ as program
from agent import settings
from agent.chat_agent import ChatAgent
from agent.logs import set_up_logs
from agent.serve import main as serve
from agent.settings import Settings
from agent.terminal import visible

# Sets a title, clears the screen, writes the clipboard, begins a sequence in one character, turns the line.
ORDERS = "\x1b]0;owned\x07 \x1b[2J \x1b]52;c;cm0=\x07 \x9b2J \x7f \u202etxt \u2066x \u200e\u200f\u061c \u2028 \u2029"
SHOWN = (
    r"\u001b]0;owned\u0007 \u001b[2J \u001b]52;c;cm0=\u0007 \u009b2J \u007f \u202etxt \u2066x "
    + (r"\u200e\u200f\u061c \u2028 \u2029")
)


@tool
def list_birds() -> str:
    """Lists all birds."""
    return json.dumps({"birds": [ORDERS]})


@tool
def list_storms() -> str:
    """Lists all storms."""
    raise ToolException(ORDERS)


list_storms.handle_tool_error = True


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MCP_URL", "MCP_API_KEY", "MODEL", "MODEL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_without_settings_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # F1-09
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hello\n\n"))
    assert program.main() == 0
    printed = capsys.readouterr().out
    assert "Initialized (No MCP), 0 tools, no language model" in printed
    assert "neither a language model nor a tool" in printed


@pytest.mark.parametrize("farewell", ["exit", " Quit "])
def test_a_word_ends_the_chat(
    farewell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"Quit?\n{farewell}\nHello\n"))
    assert program.main() == 0
    assert capsys.readouterr().out.count("neither a language model nor a tool") == 1


def test_a_terminal_of_few_letters_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Gr\xfc\xdfe\n"), "utf-8"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "ascii"))
    assert program.main() == 0
    program._write("Grüße")
    assert b"neither a language model nor a tool" in printed.getvalue()
    assert printed.getvalue().endswith(rb"Gr\xfc\xdfe")


@pytest.mark.parametrize("main", [program.main, serve], ids=["terminal", "HTTP"])
def test_the_help_says_what_each_setting_is(
    main: Callable[[Sequence[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    # S1-003
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    _, _, about = told.partition("\n  MCP_URL\n")
    assert about.startswith("      http or https address of the MCP server whose tools are used,")
    assert "such as http://127.0.0.1:8000/mcp;" in about
    # Whatever is read from the environment.
    read = set(re.findall(r'"((?:MCP|MODEL)[A-Z_]*)"', inspect.getsource(settings)))
    assert {line.strip() for line in told.splitlines() if line.strip() in read} == read


@pytest.mark.parametrize("message", ["List all birds", "List all storms"])
async def test_what_tools_say_gives_the_terminal_no_orders(
    capsys: pytest.CaptureFixture[str], message: str
) -> None:
    await program.answer(ChatAgent(Settings(), [list_birds, list_storms]), message)
    printed = capsys.readouterr().out
    assert SHOWN in printed
    assert visible(printed) == printed


def test_what_a_server_says_of_its_faults_gives_the_terminal_no_orders(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # pytest has handlers of its own there, which would keep ours away.
    monkeypatch.setattr(logging.root, "handlers", [])
    set_up_logs()
    logging.getLogger("agent").error("No MCP tools: %s", ORDERS)
    assert capsys.readouterr().err.endswith(f"ERROR No MCP tools: {SHOWN}\n")


def test_lines_tabs_and_letters_of_every_language_are_shown_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "a\tb\nGrüße 👩‍👩‍👧 漢字 \u00a0 שלום"
    program._write(text.replace("\n", "\r\n"))
    assert capsys.readouterr().out == text


def test_what_cannot_be_written_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    program._write("half a pair: \ud83d")
    assert capsys.readouterr().out == r"half a pair: \ud83d"


def test_a_setting_that_cannot_be_used_ends_both_programs_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODEL", "nobody:large")
    assert (program.main(), serve([])) == (2, 2)
    assert capsys.readouterr().err.count("MODEL nobody:large cannot be used") == 2


def test_ctrl_c_ends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    assert program.main() == 0
