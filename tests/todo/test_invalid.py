"""Nothing that cannot be used reaches the database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st
from mcp import Client
from typing_extensions import override

from examples.todo_server.server import TodoServer
from examples.todo_server.store import Row, Store
from examples.todo_server.tools import TOOLS
from examples.todo_server.values import Todo
from tests.todo.programs import NAMES, caller


class Untouched(Store):
    """A database that notes whether anybody came, and has nothing."""

    workers = 1
    mark = "?"
    contains = "{column}"
    tagged = ""
    visits = 0

    @override
    def rows(self, statement: str, values: Sequence[Any], *, write: bool) -> Sequence[Row]:
        self.visits += 1
        return [{}] if statement.startswith("INSERT") else []

    @override
    def close(self) -> None:
        pass

    @override
    def stored(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(fields)

    @override
    def todo(self, row: Row) -> Todo:
        return Todo(1, "x", "", "active", None, (), None, "", "")


GOOD: dict[str, dict[str, Any]] = {
    "create_todo": {"title": "x"},
    "list_todos": {},
    "update_todo": {"todo_id": 1, "title": "x"},
    "search_todos": {"query": "x"},
    "delete_todo": {"todo_id": 1},
}
NO_DATES: list[Any] = [
    *("tomorrow", "2026-02-30", "20260101", "2026-1-1", "2026-W01-1", "", 20260101, None),
    *("2026-01-01T00:00:00", " 2026-01-01", "２０２６-01-01"),
]
BAD: dict[str, list[Any]] = {
    "title": ["", "  \t", "x" * 201, None, 1, ["x"], "nul\x00"],
    "description": ["x" * 2001, None, 5, "nul\x00"],
    "query": ["", " ", "x" * 201, None, 7],
    "priority": [0, 6, -1, 2.5, "3", True, None, 1e300],
    "status": ["done", "Active", "", None, 1, []],
    "tags": ["x", [1], [""], [" "], ["x" * 51], ["x"] * 21, {"a": 1}, None],
    "todo_id": [0, -1, "1", 1.5, True, None, 2**63, 1e19],
    **dict.fromkeys(("due_date", "due_date_before", "due_date_after"), NO_DATES),
}
CASES = [
    (tool, name, value)
    for tool in NAMES
    for name in TOOLS[tool].takes["properties"]
    for value in BAD[name]
]


@pytest.fixture
def store() -> Untouched:
    return Untouched()


def test_every_bad_value_is_refused_before_the_database(store: Untouched) -> None:
    # S2-027 S2-028 S2-029 F2-24 F2-27
    with caller(TodoServer(store).protocol) as todos:
        for tool, name, value in CASES:
            said = todos.refusal(tool, **{**GOOD[tool], name: value})
            assert name in said, (tool, name, value, said)
    assert store.visits == 0


def test_missing_and_unknown_arguments_are_refused(store: Untouched) -> None:
    # F2-27 F2-28
    with caller(TodoServer(store).protocol) as todos:
        for tool, name in [
            ("create_todo", "title"),
            ("search_todos", "query"),
            ("update_todo", "todo_id"),
            ("delete_todo", "todo_id"),
        ]:
            left = {key: value for key, value in GOOD[tool].items() if key != name}
            assert f"{name} is required" in todos.refusal(tool, **left)
        for name in ("id", "keyword", "color"):
            said = todos.refusal("update_todo", **{**GOOD["update_todo"], name: 1})
            assert f"'{name}' is no argument" in said
        assert "at least one field" in todos.refusal("update_todo", todo_id=1)
    assert store.visits == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
LIKELY = JSON | st.sampled_from(["active", "2026-02-28", "2026-02-29", "x", ["a"], 1, 5, 6, 2.0])


@settings(max_examples=150, deadline=None)
@generated(st.sampled_from(NAMES), st.data())
def test_what_the_schema_forbids_is_refused_and_the_rest_reaches_the_database(
    tool: str, data: st.DataObject
) -> None:
    # F2-27
    names = [*TOOLS[tool].takes["properties"], "other"]
    given = data.draw(st.dictionaries(st.sampled_from(names), LIKELY))
    store = Untouched()
    result = asyncio.run(called(store, tool, given))
    # A title of control characters alone is empty here and not to every schema.
    if not jsonschema_rs.is_valid(TOOLS[tool].takes, given, validate_formats=True):
        assert (result, store.visits) == (True, 0)
    assert store.visits == (0 if result else 1) or tool in {"update_todo", "delete_todo"}


async def called(store: Store, tool: str, arguments: dict[str, Any]) -> bool:
    """Whether a call was refused."""
    async with Client(TodoServer(store).protocol) as client:
        return bool((await client.call_tool(tool, arguments)).is_error)
