"""The evaluation measures the model that the chat would talk to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.evaluate_intents import main
from agent.intents.cases import load
from tests.openai_server import KEY, Called, Fault, OpenAiServer, openai_server


def answers(sent: Mapping[str, Any]) -> list[Called]:
    """A model that knows the development part by heart."""
    asked = sent["messages"][-1]["content"]
    case = next(case for case in load("development") if case.say == asked)
    plain = {name: value for name, value in case.arguments.items() if not isinstance(value, dict)}
    return [(case.tool, plain)] if case.tool else []


def configure(monkeypatch: pytest.MonkeyPatch, api: OpenAiServer) -> None:
    monkeypatch.setenv("MODEL", "scripted")
    monkeypatch.setenv("MODEL_BASE_URL", api.url)
    monkeypatch.setenv("MODEL_API_KEY", KEY)


def test_the_model_of_the_settings_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with openai_server(calls=answers) as api:
        configure(monkeypatch, api)
        assert main([]) == 0
        assert api.headers[0]["authorization"] == f"Bearer {KEY}"
        assert {sent["model"] for _, sent in api.requests} == {"scripted"}
    first, *_, last, _ = capsys.readouterr().out.splitlines()
    assert first == "development part, 25 tools, router"
    assert last.split()[2] == "100.0"


def test_another_model_can_be_named_in_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with openai_server(calls=answers) as api:
        configure(monkeypatch, api)
        assert main(["--model", "other"]) == 0
        assert {sent["model"] for _, sent in api.requests} == {"other"}
    said = capsys.readouterr().out.splitlines()
    heads = [line for line in said if line.startswith("development part, 25 tools, ")]
    assert [line.rpartition(" ")[2] for line in heads] == ["router", "other"]


def test_a_model_that_fails_ends_the_measurement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with openai_server(always=Fault(status=401, error={"message": "no such key"})) as api:
        configure(monkeypatch, api)
        assert main([]) == 1
    assert "401" in capsys.readouterr().err
