"""The chat in a terminal, where no process of its own is needed to see it."""

from __future__ import annotations

import io
import sys

import pytest

from agent import __main__ as program
from agent.serve import main as serve


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
