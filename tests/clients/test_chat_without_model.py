"""The chat agent without a language model, on a whole control plane: rules pick the tool."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agent.programs import Chat, chat
from tests.clients.visits import Plane

BY_RULES = "No language model is configured: tools are picked by rules."


@pytest.fixture(scope="module")
def served(plane: Plane) -> Iterator[Chat]:
    with chat(MCP_URL=f"{plane.url}/mcp") as running:
        yield running


def test_a_tool_is_picked_called_and_named(served: Chat) -> None:
    # F1-10 F2-22
    answer = served.say("Create a todo called Buy oat milk")
    started, completed = answer.named("TOOL_CALL")
    assert (started["tool_name"], started["status"]) == ("create_todo", "IN_PROGRESS")
    assert "oat milk" in started["args"]["title"].lower()
    assert completed["status"] == "COMPLETED"
    assert answer.done["status"] == "ok"
    said = answer.done["final_output"]
    assert said.startswith(f"{BY_RULES} Picked create_todo with ")
    assert "Why: " in said
    assert "status: active" in said


def test_what_is_missing_is_asked_for_and_taken_from_the_next_message(served: Chat) -> None:
    asked = served.say("Delete a todo", thread_id="asking")
    assert asked.named("TOOL_CALL") == []
    assert "delete_todo" in asked.done["final_output"]
    assert "todo_id (integer)" in asked.done["final_output"]
    answer = served.say("999999", thread_id="asking")
    assert [call["tool_name"] for call in answer.named("TOOL_CALL")] == ["delete_todo"] * 2
    assert "There is no todo with id 999999" in answer.done["final_output"]


def test_where_nothing_fits_it_is_said_what_can_be_asked(served: Chat) -> None:
    answer = served.say("Zxqv blorp")
    assert answer.named("TOOL_CALL") == []
    assert "There are for example:" in answer.done["final_output"]
