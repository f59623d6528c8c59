"""The state of a server, carried by a caller from one leg of a call to the next."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from django.core import signing

from tests.tools.execution.test_dispatch import CALLER, spec
from tools.contracts import InputRequired, Round
from tools.errors import InvalidArguments
from tools.execution.rounds import LONGEST_SECONDS, answered_by, asked_of

SPEC = spec(name="book")
QUESTION = {"who": {"method": "elicitation/create", "params": {"message": "Who?"}}}
ANSWERS = {"who": {"action": "accept", "content": {"name": "Ada"}}}


def asked(state: str | None = "of the server", tool: str = "book") -> dict[str, Any]:
    return asked_of(InputRequired(QUESTION, state), tool, CALLER)


@pytest.mark.parametrize("state", ["of the server", "", None, "ü" * 5000])
def test_the_server_gets_its_own_state_back(state: str | None) -> None:
    questions = asked(state)
    assert questions["resultType"] == "input_required"
    assert questions["inputRequests"] == QUESTION
    given = Round(ANSWERS, questions["requestState"])
    assert answered_by(given, SPEC, CALLER) == Round(ANSWERS, state)


def test_a_first_leg_and_answers_without_a_state_pass_as_they_are() -> None:
    assert answered_by(None, SPEC, CALLER) is None
    assert answered_by(Round(ANSWERS), SPEC, CALLER) == Round(ANSWERS)


def test_what_a_server_said_cannot_be_passed_off_as_a_state() -> None:
    forged = signing.dumps(["book", CALLER.identifier, "mine"], salt="another")
    for state in ("", "of the server", forged, asked()["requestState"] + "x", "a:b:c"):
        with pytest.raises(InvalidArguments) as refused:
            answered_by(Round(ANSWERS, state), SPEC, CALLER)
        assert refused.value.details.parameter == "requestState"


def test_the_state_of_another_tool_or_caller_is_refused() -> None:
    with pytest.raises(InvalidArguments):
        answered_by(Round(ANSWERS, asked(tool="pay")["requestState"]), SPEC, CALLER)
    other = replace(CALLER, identifier="local:other")
    with pytest.raises(InvalidArguments):
        answered_by(Round(ANSWERS, asked()["requestState"]), SPEC, other)


def test_a_state_is_taken_back_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    state = asked()["requestState"]
    now = time.time()
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + LONGEST_SECONDS - 60)
    assert answered_by(Round({}, state), SPEC, CALLER) is not None
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + LONGEST_SECONDS + 60)
    with pytest.raises(InvalidArguments):
        answered_by(Round({}, state), SPEC, CALLER)
