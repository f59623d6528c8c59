"""The five Todo tools through every door: what the server does, and what it is spared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from tests.federation.servers.conftest import FirstStart
from tests.federation.servers.plane import MCP_WAYS, Plane
from tests.todo.programs import NAMES, over_http
from tests.tools.mcp_server.clients import User, user_of

numbers = count(1)
INVALID = -32602
FAILED = -32000


class Refused(Exception):
    """A call that was not done: the code of the doors that speak MCP, and the words."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Todos:
    """The tools through one door."""

    call: Callable[[str, Mapping[str, Any]], dict[str, Any]]

    def __getattr__(self, tool: str) -> Callable[..., dict[str, Any]]:
        return lambda **arguments: self.call(tool, arguments)


def through_rest(plane: Plane) -> Todos:
    codes = {(400, "INVALID_ARGUMENTS"): INVALID, (500, "EXECUTION_ERROR"): FAILED}

    def call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        status, body = plane.stack.call(tool, **arguments)
        if status != 200:
            raise Refused(codes[status, body["code"]], body["error"])
        data: dict[str, Any] = body["data"]
        return data

    return Todos(call)


def through_mcp(user: User) -> Todos:
    def call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        result = user.call(tool, arguments)
        content: dict[str, Any] = result.structured_content
        if result.is_error:
            raise Refused(content["error"]["code"], content["error"]["message"])
        return content

    return Todos(call)


@pytest.fixture(scope="module", params=["rest", *MCP_WAYS], ids=str)
def todos(request: pytest.FixtureRequest, starts: tuple[Plane, FirstStart]) -> Iterator[Todos]:
    plane, _ = starts
    if request.param == "rest":
        yield through_rest(plane)
        return
    with user_of(plane.url, request.param) as user:
        yield through_mcp(user)


def titles(found: Mapping[str, Any]) -> list[str]:
    return [todo["title"] for todo in found["todos"]]


def test_a_todo_lives_from_its_making_to_its_deletion(todos: Todos) -> None:
    # S2-022 S2-023 S2-024 S2-025 S2-026 S2-032 F2-25 F2-26
    word = f"otter{next(numbers)}"
    made = todos.create_todo(
        title=f"Feed the {word}", priority=4, tags=["zoo", word], due_date="2027-01-31"
    )
    assert made["id"] > 0
    assert (made["status"], made["priority"]) == ("active", 4)
    assert made["created_at"] == made["updated_at"]
    assert titles(todos.list_todos(tags=[word], priority=4)) == [made["title"]]
    assert titles(todos.list_todos(tags=[word], due_date_before="2027-01-31")) == []
    assert titles(todos.search_todos(query=word.upper())) == [made["title"]]
    changed = todos.update_todo(todo_id=made["id"], description="with fish", status="completed")
    assert changed == {
        **made,
        "description": "with fish",
        "status": "completed",
        "updated_at": changed["updated_at"],
    }
    assert titles(todos.search_todos(query=word)) == []
    assert titles(todos.search_todos(query=word, status="completed")) == [made["title"]]
    gone = todos.delete_todo(todo_id=made["id"])
    assert (gone["id"], gone["deleted"]) == (made["id"], True)
    assert titles(todos.list_todos(tags=[word], status="completed")) == []


@pytest.mark.parametrize("tool", ["update_todo", "delete_todo"])
def test_an_unknown_id_is_told_in_the_servers_words(todos: Todos, tool: str) -> None:
    # F2-25
    more = {"title": "x"} if tool == "update_todo" else {}
    with pytest.raises(Refused, match="There is no todo with id 999999") as refused:
        todos.call(tool, {"todo_id": 999999, **more})
    assert refused.value.code == FAILED


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("create_todo", {}, "title"),
        ("create_todo", {"title": ""}, "title"),
        ("create_todo", {"title": "x" * 201}, "title"),
        ("create_todo", {"title": "x", "description": "x" * 2001}, "description"),
        ("create_todo", {"title": "x", "priority": 0}, "priority"),
        ("create_todo", {"title": "x", "priority": 6}, "priority"),
        ("create_todo", {"title": "x", "priority": "high"}, "priority"),
        ("create_todo", {"title": "x", "tags": "home"}, "tags"),
        ("create_todo", {"title": "x", "due_date": "tomorrow"}, "due_date"),
        ("create_todo", {"title": "x", "id": 7}, "id"),
        ("list_todos", {"status": "done"}, "status"),
        ("update_todo", {"todo_id": "one", "title": "x"}, "todo_id"),
        ("search_todos", {}, "query"),
        ("delete_todo", {}, "todo_id"),
    ],
)
def test_limits_hold_before_the_server_is_asked(
    todos: Todos, tool: str, arguments: dict[str, Any], named: str
) -> None:
    # F2-13 S2-027 S2-028 S2-029 F2-24
    with pytest.raises(Refused, match=named) as refused:
        todos.call(tool, arguments)
    assert refused.value.code == INVALID


def test_over_http_everything_is_as_it_was_over_stdio(
    starts: tuple[Plane, FirstStart],
) -> None:
    # F2-11
    plane, first = starts
    local = plane.connected("todo")
    assert local["transport_type"] == "stdio"
    kept = through_rest(plane).create_todo(title="Made over stdio", tags=["switch"])
    with over_http(str(plane.stack.folder / "todo.sqlite3")) as server:
        plane.reach("todo", transport="streamable_http", command="", url=server.url)
        connection = plane.connected("todo")
        assert (connection["transport_type"], connection["process_handle"]) == (
            "streamable_http",
            None,
        )
        assert sorted(connection["discovered_tools"]) == sorted(NAMES)
        assert plane.registry("todo") == first.registry
        for way in MCP_WAYS:
            with user_of(plane.url, way) as user:
                through_mcp(user).create_todo(title=f"Made over HTTP by {way}", tags=["switch"])
        found = through_rest(plane).list_todos(tags=["switch"])
        assert titles(found) == [
            kept["title"],
            *(f"Made over HTTP by {way}" for way in MCP_WAYS),
        ]
        plane.reach("todo", transport="stdio", command="todo-server", url="")
        assert plane.connected("todo")["process_handle"] != local["process_handle"]
    assert through_rest(plane).list_todos(tags=["switch"]) == found
