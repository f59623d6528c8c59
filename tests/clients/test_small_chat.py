"""The trial of a model through the chat counts what the chat streams: real tools, and a model that follows a script."""

from __future__ import annotations

import pytest

from agent.intents.cases import Case
from bench.small_chat import ChatFault, chatting, summary, turns
from tests.agent.scripts import Script
from tests.client_envs import client_python
from tests.clients.visits import Plane
from tests.openai_server import openai_server

CASES = [
    Case("create a todo to buy bread", "todo", "create_todo"),
    Case("what is on my list", "todo", "list_todos"),
    Case("show my list", "todo", "list_todos"),
    Case("good morning", "todo", None),
]
SCRIPT = Script(
    {
        CASES[0].say: [("create_todo", {"title": "Buy bread"})],
        CASES[1].say: [("create_todo", {"title": "List"})],
    }
)


def test_calls_events_and_ends_of_a_trial_are_counted(plane: Plane) -> None:
    # F2-22
    with (
        openai_server(script=SCRIPT) as model,
        chatting(
            str(client_python("langchain")),
            MCP_URL=f"{plane.url}/mcp",
            MODEL="scripted",
            MODEL_BASE_URL=model.url,
        ) as url,
    ):
        found = list(turns(url, CASES, 60))
    outcomes = [one.outcome for one in found]
    assert outcomes == ["right tool", "another tool", "no call", "rightly no call"]
    assert found[0].calls == [("create_todo", "IN_PROGRESS"), ("create_todo", "COMPLETED")]
    assert {one.status for one in found} == {"ok"}
    told = summary(found).splitlines()
    for row in ("| requests | 4 |", "| outcome: no call | 1 |", "| event: DONE | 4 |"):
        assert row in told
    assert "| call: create_todo COMPLETED | 2 |" in told
    assert found[2].events["RESPONSE_DELTA"] > 1


def test_a_chat_that_cannot_start_is_told(plane: Plane) -> None:
    with (
        pytest.raises(ChatFault, match="did not start"),
        chatting(
            str(client_python("langchain")),
            MCP_URL=f"{plane.url}/mcp",
            MODEL_TIMEOUT_SECONDS="never",
        ),
    ):
        raise AssertionError
