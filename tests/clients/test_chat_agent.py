"""The project's own chat agent as a client of a whole control plane."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.agent.programs import Chat, chat, loaded, terminal
from tests.agent.scripts import Script
from tests.clients.visits import Plane
from tests.openai_server import OpenAiServer, openai_server
from tests.processes import wait_until
from tests.yardstick import in_time


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAiServer]:
    with openai_server(script=Script()) as running:
        yield running


def variables(plane: Plane, model: OpenAiServer) -> dict[str, str]:
    return {"MCP_URL": f"{plane.url}/mcp", "MODEL": "scripted", "MODEL_BASE_URL": model.url}


@pytest.fixture(scope="module")
def served(plane: Plane, model: OpenAiServer) -> Iterator[Chat]:
    """The agent over HTTP, between the model and the control plane."""
    with chat(**variables(plane, model)) as running:
        yield running


def test_each_operation_on_todos_is_done_by_what_is_said(
    served: Chat, model: OpenAiServer, plane: Plane
) -> None:
    # F2-03 F1-10 F2-22
    def said(message: str, tool: str, **arguments: Any) -> dict[str, Any]:
        model.script = Script({message: [(tool, arguments)]})
        began = time.monotonic()
        answer = served.say(message, thread_id="todos")
        assert in_time(time.monotonic() - began, 3)
        assert answer.status == 200
        started, completed = answer.named("TOOL_CALL")
        assert started.pop("id") == completed["id"]
        assert started == {"tool_name": tool, "status": "IN_PROGRESS", "args": arguments}
        assert completed["status"] == "COMPLETED"
        assert answer.done["status"] == "ok"
        assert answer.done["final_output"] == f"The tool says: {completed['result']}"
        result: dict[str, Any] = json.loads(completed["result"])
        return result

    made = said("Create a task to buy groceries", "create_todo", title="Buy groceries")
    assert (made["title"], made["status"]) == ("Buy groceries", "active")
    listed = said("What are my active tasks?", "list_todos", status="active")
    assert made["id"] in [todo["id"] for todo in listed["todos"]]
    found = said("Have I something about groceries?", "search_todos", query="groceries")
    assert [todo["id"] for todo in found["todos"]] == [made["id"]]
    changed = said(
        f"Mark todo {made['id']} as completed",
        "update_todo",
        todo_id=made["id"],
        status="completed",
    )
    assert changed["status"] == "completed"
    gone = said(f"Delete todo {made['id']}", "delete_todo", todo_id=made["id"])
    assert gone["deleted"] is True
    assert plane.stack.call("list_todos", status="completed")[1]["data"]["todos"] == []


def test_all_tools_of_the_control_plane_are_offered(
    served: Chat, model: OpenAiServer, plane: Plane
) -> None:
    # F1-02 F1-10
    served.say("Hello")
    offered = {one["function"]["name"] for one in model.requests[-1][1]["tools"]}
    assert offered == {tool["name"] for tool in plane.stack.get("/tools")[1]["tools"]}


def test_all_tools_of_the_control_plane_are_loaded_in_five_seconds(plane: Plane) -> None:
    # F1-08
    tools, seconds = loaded(f"{plane.url}/mcp")
    assert sorted(tools) == sorted(tool["name"] for tool in plane.stack.get("/tools")[1]["tools"])
    assert in_time(seconds, 5)


def test_calls_are_in_the_request_log_under_the_ids_of_the_turn(
    served: Chat, model: OpenAiServer, plane: Plane
) -> None:
    # F2-04
    model.script = Script({"How is it going?": [("server_metrics", {})]})
    answer = served.say("How is it going?", request_id="turn-7", thread_id="thread-7")
    assert answer.done["status"] == "ok"
    query = "SELECT tool_name, correlation_id FROM tools_toolrequest WHERE thread_id = 'thread-7'"

    def rows() -> list[tuple[str, str]]:
        path = plane.stack.folder / "controlplane.sqlite3"
        with closing(sqlite3.connect(path, timeout=10)) as database:
            return list(database.execute(query))

    wait_until(lambda: rows() == [("server_metrics", "turn-7")], what="the row of the call")


def test_in_a_terminal_calls_of_tools_are_shown(plane: Plane, model: OpenAiServer) -> None:
    # F1-10
    model.script = Script({"Note: water the plants": [("create_todo", {"title": "Water"})]})
    done = terminal("Hello\n\nNote: water the plants\n", **variables(plane, model))
    assert (done.returncode, done.stderr) == (0, "")
    first, _, rest = done.stdout.partition("\n")
    assert first.startswith("Initialized (With MCP), ")
    assert first.endswith(" tools, scripted. exit or Ctrl-D ends the chat.")
    assert "I heard: Hello" in rest
    assert "[create_todo {'title': 'Water'}]" in rest
    assert "[create_todo answered]" in rest


def test_a_key_that_nobody_holds_is_told_and_the_agent_starts(plane: Plane) -> None:
    # F1-11 F1-03
    done = terminal("", MCP_URL=f"{plane.url}/mcp", MCP_API_KEY="cp_nobody")
    assert done.returncode == 0
    assert "Initialized (MCP Failed), 0 tools" in done.stdout
    assert "it answered 401 Unauthorized; MCP_API_KEY holds the key it wants" in done.stderr
    assert "cp_nobody" not in done.stderr
