"""What the tools do, on both databases."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import jsonschema_rs
import pytest
from mcp.shared.exceptions import MCPError

from examples.todo_server.tools import TOOLS
from tests.todo.programs import Caller, text_of


def test_a_new_todo_is_active_and_has_an_id_and_its_times(todos: Caller) -> None:
    # S2-022 S2-032 F2-24
    todo = todos.given(
        "create_todo",
        title="  Buy milk ",
        description="Two litres",
        priority=4,
        tags=["shop", "home", "shop"],
        due_date="2026-12-24",
    )
    made = datetime.fromisoformat(todo.pop("created_at"))
    assert made.tzinfo == UTC
    assert datetime.fromisoformat(todo.pop("updated_at")) == made
    assert todo == {
        "id": 1,
        "title": "Buy milk",
        "description": "Two litres",
        "status": "active",
        "priority": 4,
        "tags": ["shop", "home"],
        "due_date": "2026-12-24",
    }


def test_a_title_is_enough(todos: Caller) -> None:
    # S2-022
    todo = todos.given("create_todo", title="x" * 200)
    assert (todo["description"], todo["priority"], todo["tags"], todo["due_date"]) == (
        "",
        None,
        [],
        None,
    )


def test_update_changes_only_the_named_fields(todos: Caller) -> None:
    # S2-024 F2-26
    before = todos.given(
        "create_todo", title="Call Ada", description="about rent", priority=2, tags=["a"]
    )
    after = todos.given("update_todo", todo_id=before["id"], title="Call Bob", tags=[])
    assert after["updated_at"] >= before["updated_at"]
    assert after == {
        **before,
        "title": "Call Bob",
        "tags": [],
        "updated_at": after["updated_at"],
    }
    again = todos.given("update_todo", todo_id=before["id"], due_date="2027-01-31")
    assert (again["due_date"], again["title"]) == ("2027-01-31", "Call Bob")


def test_list_shows_active_ones_until_asked_for_others(todos: Caller) -> None:
    # S2-023 F2-25
    for title in ("stays", "done", "away"):
        todos.given("create_todo", title=title)
    todos.given("update_todo", todo_id=2, status="completed")
    todos.given("update_todo", todo_id=3, status="archived")
    assert todos.titles("list_todos") == ["stays"]
    assert todos.titles("list_todos", status="completed") == ["done"]
    assert todos.titles("list_todos", status="archived") == ["away"]
    assert todos.titles("search_todos", query="a") == ["stays"]
    assert todos.titles("search_todos", query="a", status="archived") == ["away"]


def test_filters_hold_all_at_once(todos: Caller) -> None:
    # S2-023
    rows = [
        ("one", 1, ["x"], "2026-01-01"),
        ("two", 5, ["x", "y"], "2026-01-02"),
        ("three", 5, ["y"], "2026-01-03"),
        ("four", 5, ["x", "y"], "2026-01-04"),
    ]
    for title, priority, tags, due in rows:
        todos.given("create_todo", title=title, priority=priority, tags=tags, due_date=due)
    todos.given("create_todo", title="five")
    assert todos.titles("list_todos") == ["two", "three", "four", "one", "five"]
    assert todos.titles("list_todos", priority=5) == ["two", "three", "four"]
    assert todos.titles("list_todos", tags=["x", "y"]) == ["two", "four"]
    assert todos.titles("list_todos", due_date_before="2026-01-02") == ["one"]
    assert todos.titles("list_todos", due_date_after="2026-01-03") == ["four"]
    between = {"due_date_after": "2026-01-01", "due_date_before": "2026-01-04"}
    assert todos.titles("list_todos", tags=["y"], **between) == ["two", "three"]
    assert todos.titles("search_todos", query="o", priority=5) == ["two", "four"]


def test_search_takes_text_literally_and_any_case(todos: Caller) -> None:
    # S2-025 F2-26
    texts = ["Straße fegen", "Ĉio", "ΛΌΓΟΣ", "Save 100% now", "snake_case", "back\\slash"]
    for title in texts:
        todos.given("create_todo", title=title)
    todos.given("create_todo", title="Look", description="Is it under the table?")
    wanted = {
        "STRASSE": ["Straße fegen"],
        "ĉio": ["Ĉio"],
        "c\u0302io": ["Ĉio"],
        "λόγος": ["ΛΌΓΟΣ"],
        "100%": ["Save 100% now"],
        "0%n": [],
        "_": ["snake_case"],
        "under the TABLE": ["Look"],
        "look\nis": [],
        "'; DROP TABLE todos; --": [],
        "\\": ["back\\slash"],
    }
    assert {query: todos.titles("search_todos", query=query) for query in wanted} == wanted


def test_delete_is_for_good_and_confirms_what_went(todos: Caller) -> None:
    # S2-026 F2-25
    todo = todos.given("create_todo", title="Old thing")
    gone = todos.given("delete_todo", todo_id=todo["id"])
    assert gone["deleted"] is True
    assert (gone["id"], gone["title"]) == (todo["id"], "Old thing")
    assert "Old thing" in gone["message"]
    for status in ("active", "completed", "archived"):
        assert todos.titles("list_todos", status=status) == []
    later = todos.given("create_todo", title="New thing")
    assert later["id"] > todo["id"]


@pytest.mark.parametrize("tool", ["update_todo", "delete_todo"])
def test_an_unknown_id_is_told_as_such(todos: Caller, tool: str) -> None:
    # F2-25
    extra = {"title": "x"} if tool == "update_todo" else {}
    said = todos.refusal(tool, todo_id=99, **extra)
    assert "no todo with id 99" in said


def test_results_fit_their_schemas_and_say_the_same_as_text(todos: Caller) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_todo", {"title": "a", "priority": 2, "due_date": "2026-02-28"}),
        ("update_todo", {"todo_id": 1, "tags": ["ü"]}),
        ("list_todos", {}),
        ("search_todos", {"query": "A"}),
        ("delete_todo", {"todo_id": 1}),
    ]
    for name, arguments in calls:
        result = todos.call(name, **arguments)
        jsonschema_rs.validate(TOOLS[name].gives, result.structured_content)
        assert json.loads(text_of(result)) == result.structured_content


def test_a_long_list_is_cut_and_says_how_many_there_are(todos: Caller) -> None:
    for number in range(501):
        todos.given("create_todo", title=f"todo {number}")
    found = todos.given("list_todos")
    assert (found["total"], len(found["todos"])) == (501, 500)


def test_an_unknown_tool_is_a_fault_of_the_protocol(todos: Caller) -> None:
    with pytest.raises(MCPError, match="Unknown tool: drop_todos"):
        todos.call("drop_todos")
