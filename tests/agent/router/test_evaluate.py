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
from agent.intents.safety import Risk, risks
from agent.router import Choice
from tests.http_server import Reply, http_server, json_reply
from tests.openai_server import KEY, Called, Fault, openai_server
from tests.project.pages import PROJECT

TOOLS = {tool.name: tool for tool in recorded_tools()}


def chosen(tool: str, missing: tuple[str, ...] = (), **arguments: Any) -> Choice:
    return Choice(tool, arguments, missing, "", 1.0)


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs this may have a model of their own configured."""
    for name in ("MODEL", "MODEL_BASE_URL", "MODEL_API_KEY"):
        monkeypatch.delenv(name, raising=False)


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
    assert [line.split()[0] for line in lines[3:9]] == [
        *("todo", "rag", "nsip", "none", "builtin", "all")
    ]
    share = float(lines[8].split()[-2])
    wrong = [line for line in lines if line.startswith("wrong ")]
    assert len(wrong) == round(len(load("development")) * (100 - share) / 100)


def test_a_control_plane_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url", "http://127.0.0.1:9/mcp"]) == 1
    assert "127.0.0.1:9" in capsys.readouterr().err


def rpc(result: Any) -> Reply:
    return json_reply({"jsonrpc": "2.0", "id": 1, "result": result})


@pytest.mark.parametrize("refused", [True, False])
def test_figures_with_a_search_that_failed_are_told_as_such(
    refused: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # F2-14
    listed = [
        {"name": one.name, "description": one.description, "inputSchema": one.input_schema}
        for one in TOOLS.values()
    ]
    some = [Case("show my todos", "todo", "list_todos"), Case("hello", "none", None)]
    monkeypatch.setattr("agent.evaluate_intents.load", lambda part: some)
    found = {"content": [], "structuredContent": {"tools": [{"name": "list_todos"}]}}
    limited = {"content": [{"type": "text", "text": "RATE_LIMITED"}], "isError": True}
    with http_server(always=rpc(limited if refused else found)) as plane:
        plane.behave(rpc({"tools": listed}))
        code = main(["--url", f"{plane.url}/mcp"])
    said = capsys.readouterr()
    assert said.out.startswith("development part, 25 tools, router with tool_search\n")
    assert code == int(refused)
    assert ("tool_search failed for 2 requests" in said.err) is refused
    assert ("RATE_LIMITED" in said.err) is refused


def test_recording_needs_an_address() -> None:
    with pytest.raises(SystemExit):
        main(["--record"])


def test_nothing_held_out_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--part", "held-out", "--failures"])
    said = capsys.readouterr()
    assert "only totals are shown" in said.err
    assert said.out == ""


def test_the_safety_part_tells_how_many_requests_change_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    count = len(risks())
    assert main(["--part", "safety"]) == 0
    assert f"{count} of {count} requests change nothing unasked, 100.0 %" in capsys.readouterr().out


def test_a_request_that_would_change_something_fails_the_safety_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ordered = [Risk("delete todo 5", "demo"), Risk("hello", "demo")]
    monkeypatch.setattr("agent.evaluate_intents.risks", lambda: ordered)
    assert main(["--part", "safety", "--failures"]) == 1
    said = capsys.readouterr().out
    assert "1 of 2 requests" in said
    assert "wrong call: delete todo 5" in said


def test_what_the_server_says_of_effects_is_recorded_with_the_tools() -> None:
    assert TOOLS["list_todos"].read_only
    assert TOOLS["delete_todo"].destructive
    assert not TOOLS["update_todo"].read_only


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
    return (
        [(case.tool, {name: told(value) for name, value in case.arguments.items()})]
        if case.tool
        else []
    )


def told(value: Any) -> Any:
    """A value that does for what is expected."""
    if isinstance(value, dict) and "$has" in value:
        return " ".join(value["$has"])
    return value["$one_of"][0] if isinstance(value, dict) and "$one_of" in value else value


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


def test_the_command_measures_a_model_after_the_router(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with openai_server(calls=answers) as api:
        monkeypatch.setenv("OPENAI_BASE_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert main(["--model", "scripted"]) == 0
        api.always = Fault(status=401, error={"message": "no such key"})
        assert main(["--model", "scripted"]) == 1
    said = capsys.readouterr()
    heads = [line for line in said.out.splitlines() if " part, " in line]
    # The second time the model did not let it in.
    assert heads == [
        f"development part, 25 tools, {one}" for one in ("router", "scripted", "router")
    ]
    assert said.out.count("\nall ") == 3
    assert "401" in said.err


def test_a_key_that_cannot_be_sent_is_named_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTROL_PLANE_KEY", "hush\nhush")
    monkeypatch.setenv("OPENAI_API_KEY", "hush\rhush")
    codes = [main(["--url", "http://127.0.0.1:9/mcp"]), main(["--model", "scripted"])]
    said = capsys.readouterr()
    assert codes == [1, 1]
    assert said.err.splitlines() == [
        f"{name} takes printable ASCII characters only"
        for name in ("CONTROL_PLANE_KEY", "OPENAI_API_KEY")
    ]
    assert said.out == ""


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null"])
async def test_calls_with_broken_arguments_count_as_without(arguments: str) -> None:
    with openai_server(calls=lambda sent: [("delete_todo", arguments)]) as api:
        choice = await ModelChooser(api.url, KEY, "scripted", TODAY)("delete it", recorded_tools())
    assert choice == Choice("delete_todo", {}, ("todo_id",), "called by the model", 1.0)
