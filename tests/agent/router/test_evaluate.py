"""The command that measures choosers, and the model as one of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from agent.evaluate_intents import main
from agent.intents.cases import TODAY, Case, load, recorded_tools
from agent.intents.measure import figures, measure
from agent.intents.model import ModelChooser, ModelFault
from agent.router import Choice
from tests.openai_server import KEY, Called, Fault, openai_server
from tests.project.pages import PROJECT

TOOLS = {tool.name: tool for tool in recorded_tools()}


def chosen(tool: str, missing: tuple[str, ...] = (), **arguments: Any) -> Choice:
    return Choice(tool, arguments, missing, "", 1.0)


def test_the_command_prints_figures_by_family_and_what_failed() -> None:
    command = [
        sys.executable,
        "-m",
        "agent.evaluate_intents",
        "--part",
        "development",
        "--failures",
    ]
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, timeout=60, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "development part, 25 tools, router"
    assert [line.split()[0] for line in lines[3:8]] == ["todo", "rag", "nsip", "none", "all"]
    share = float(lines[7].split()[-2])
    wrong = [line for line in lines if line.startswith("wrong ")]
    assert len(wrong) == round(len(load("development")) * (100 - share) / 100)


def test_a_control_plane_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url", "http://127.0.0.1:9/mcp"]) == 1
    assert "127.0.0.1:9" in capsys.readouterr().err


def test_recording_needs_an_address() -> None:
    with pytest.raises(SystemExit):
        main(["--record"])


@pytest.mark.parametrize(
    ("case", "choice", "right"),
    [
        (Case("x", "f", None), None, True),
        (Case("x", "f", None), chosen("list_todos"), False),
        (Case("x", "f", "list_todos"), None, False),
        (Case("x", "f", "list_todos"), chosen("list_todos", status="active"), True),
        (Case("x", "f", "list_todos"), chosen("list_todos", status="archived"), False),
        (Case("x", "f", "list_todos", may={"priority": 5}), chosen("list_todos", priority=5), True),
        (
            Case("x", "f", "list_todos", may={"priority": 5}),
            chosen("list_todos", priority=4),
            False,
        ),
        (Case("x", "f", "delete_todo"), chosen("delete_todo", ("todo_id",)), True),
        (Case("x", "f", "delete_todo"), chosen("delete_todo", todo_id=1), False),
        (Case("x", "f", "delete_todo", {"todo_id": 1}), chosen("delete_todo", todo_id=True), False),
        (
            Case("x", "f", "create_todo", {"title": "Buy milk"}),
            chosen("create_todo", title="buy the milk!"),
            True,
        ),
        (
            Case("x", "f", "rag_basic", {"query": {"$has": ["the lock"]}}),
            chosen("rag_basic", query="When was the Lock built?"),
            True,
        ),
        (
            Case("x", "f", "search_todos", {"query": {"$one_of": ["car", "cars"]}}),
            chosen("search_todos", query="cat"),
            False,
        ),
        (
            Case("x", "f", "nsip_search_animals", {"search_criteria": {"gender": "Male"}}),
            chosen("nsip_search_animals", search_criteria={"gender": "Male", "proven_only": True}),
            False,
        ),
    ],
)
def test_a_choice_is_held_to_what_was_expected(
    case: Case, choice: Choice | None, right: bool
) -> None:
    assert case.has_right_arguments(choice, TOOLS) is right


def answers(sent: Mapping[str, Any]) -> list[Called]:
    """A model that knows the development part by heart."""
    asked = sent["messages"][-1]["content"]
    case = next(case for case in load("development") if case.say == asked)
    plain = {name: value for name, value in case.arguments.items() if not isinstance(value, dict)}
    return [(case.tool, plain)] if case.tool else []


async def test_a_model_is_measured_by_the_same_requests() -> None:
    # F2-14
    cases = [case for case in load("development") if case.family in ("todo", "none")]
    with openai_server(calls=answers) as api:
        outcomes = await measure(
            ModelChooser(api.url, KEY, "scripted", TODAY), cases, recorded_tools()
        )
        path, sent = api.requests[0]
        assert path == "/v1/chat/completions"
        assert api.headers[0]["authorization"] == f"Bearer {KEY}"
        assert "2026-11-18" in sent["messages"][0]["content"]
        assert {tool["function"]["name"] for tool in sent["tools"]} == set(TOOLS)
    assert figures(outcomes).tool_percent == 100
    assert figures(outcomes).arguments_percent > 95


@pytest.mark.parametrize(
    "fault", [Fault(status=500), Fault(garbage=b"{}"), Fault(garbage=b"no json"), Fault(drop=True)]
)
async def test_a_model_that_fails_is_told_as_such(fault: Fault) -> None:
    with openai_server(always=fault) as api, pytest.raises(ModelFault, match="scripted"):
        await ModelChooser(api.url, KEY, "scripted", TODAY)("hello", recorded_tools())


def test_the_command_measures_a_model_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with openai_server(calls=answers) as api:
        monkeypatch.setenv("OPENAI_BASE_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert main(["--model", "scripted"]) == 0
        api.always = Fault(status=401, error={"message": "no such key"})
        assert main(["--model", "scripted"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("development part, 25 tools, scripted\n")
    assert "401" in said.err


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null"])
async def test_calls_with_broken_arguments_count_as_without(arguments: str) -> None:
    with openai_server(calls=lambda sent: [("delete_todo", arguments)]) as api:
        choice = await ModelChooser(api.url, KEY, "scripted", TODAY)("delete it", recorded_tools())
    assert choice == Choice("delete_todo", {}, ("todo_id",), "called by the model", 1.0)
