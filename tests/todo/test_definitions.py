"""What clients are told about the five tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from examples.todo_server.tools import TOOLS
from tests.todo.programs import NAMES, caller, over_stdio

DATE = {"type": "string", "format": "date"}
STATUS = {"type": "string", "enum": ["active", "completed", "archived"]}
PRIORITY = {"type": "integer", "minimum": 1, "maximum": 5}
TEXT = {"type": "string"}
TAGS = {"type": "array", "items": {"type": "string"}}
ID = {"type": "integer"}
# Beyond the types: limits and texts for people, which the tests of what is refused look at.
EXTRAS = {"description", "default", "minLength", "maxLength", "pattern", "maxItems"}
ASKED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "create_todo": (
        {"title": TEXT, "description": TEXT, "priority": PRIORITY, "tags": TAGS, "due_date": DATE},
        ["title"],
    ),
    "list_todos": (
        {
            "status": STATUS,
            "priority": PRIORITY,
            "tags": TAGS,
            "due_date_before": DATE,
            "due_date_after": DATE,
        },
        [],
    ),
    "update_todo": (
        {
            "todo_id": ID,
            "title": TEXT,
            "description": TEXT,
            "status": STATUS,
            "priority": PRIORITY,
            "tags": TAGS,
            "due_date": DATE,
        },
        ["todo_id"],
    ),
    "search_todos": ({"query": TEXT, "status": STATUS, "priority": PRIORITY}, ["query"]),
    "delete_todo": ({"todo_id": ID}, ["todo_id"]),
}
BEGINNINGS = {
    "create_todo": "Creates a new todo item with title, optional description, priority, tags, and due date.",
    "list_todos": "Lists todos filtered by status, priority, tags, or due date.",
    "update_todo": "Updates an existing todo's fields by ID.",
    "search_todos": "Searches todos by keyword in title or description.",
    "delete_todo": "Deletes a todo by ID.",
}


def bare(schema: dict[str, Any], *also: str) -> dict[str, Any]:
    """A property without what is there for people and for limits."""
    left = {key: value for key, value in schema.items() if key not in EXTRAS | set(also)}
    if "items" in left:
        left["items"] = bare(left["items"])
    return left


@pytest.mark.parametrize("name", NAMES)
def test_arguments_have_the_names_types_and_optionality_asked_for(name: str) -> None:
    # S2-022 S2-023 S2-024 S2-025 S2-026 S2-027 S2-028 S2-029 F2-28
    schema, (properties, required) = TOOLS[name].takes, ASKED[name]
    limits = {"todo_id": ("minimum", "maximum")}
    shown = {key: bare(value, *limits.get(key, ())) for key, value in schema["properties"].items()}
    assert shown == properties
    assert schema["required"] == required
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", NAMES)
def test_descriptions_begin_as_given_and_are_whole_sentences(name: str) -> None:
    # S2-030
    description = TOOLS[name].description
    assert description.startswith(BEGINNINGS[name])
    assert description.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_schemas_can_be_used(name: str) -> None:
    # S2-020
    jsonschema_rs.validator_for(TOOLS[name].takes)
    jsonschema_rs.validator_for(TOOLS[name].gives)


def test_clients_see_the_tools_with_tags_metadata_and_hints(tmp_path: Path) -> None:
    # S2-018 S2-031 F2-23
    with caller(over_stdio(str(tmp_path / "todo.sqlite3"))) as todos:
        listed = {tool.name: tool for tool in todos.tools()}
    assert tuple(listed) == NAMES
    meta = listed["create_todo"].meta
    assert meta is not None
    assert meta["tags"] == ["crud", "create"]
    assert meta["version"] == "1.0"
    assert meta["author"]
    hints = {name: tool.annotations for name, tool in listed.items()}
    assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == {
        "list_todos",
        "search_todos",
    }
    assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {
        "delete_todo"
    }
    assert {name for name, hint in hints.items() if hint and hint.idempotent_hint} == {
        "list_todos",
        "search_todos",
        "update_todo",
    }


def test_two_starts_list_the_same(tmp_path: Path) -> None:
    # F2-02
    seen = []
    for _ in range(2):
        with caller(over_stdio(str(tmp_path / "todo.sqlite3"))) as todos:
            tools = todos.tools()
            seen.append([json.loads(tool.model_dump_json(by_alias=True)) for tool in tools])
    assert seen[0] == seen[1]
