"""The Todo server of the demo over the starts of a control plane: there at once, and gone at the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from examples.todo_server.store_sqlite import SqliteStore
from examples.todo_server.tools import TOOLS
from tests.federation.servers.conftest import FirstStart
from tests.federation.servers.plane import MCP_WAYS, Plane
from tests.todo.programs import NAMES
from tests.tools.mcp_server.clients import user_of
from tests.yardstick import stretched

Starts = tuple[Plane, FirstStart]
LIMIT = 2.0


def test_the_first_start_ends_with_five_tools_and_the_first_call_works(starts: Starts) -> None:
    # F2-02 S2-017 S2-032
    _, first = starts
    assert set(NAMES) <= set(first.tools)
    status, body = first.created
    assert status == 200
    assert (body["data"]["id"], body["data"]["title"]) == (1, "Water the plants")
    assert body["data"]["status"] == "active"
    assert body["data"]["created_at"]
    assert "left alone" not in first.printed


def test_the_tools_are_found_within_two_seconds(starts: Starts) -> None:
    # F2-02 S2-007 S2-008
    _, first = starts
    assert first.discovery["counts"]["tools"] == len(NAMES)
    assert first.discovery["seconds"] < stretched(LIMIT)
    assert sorted(first.connection["discovered_tools"]) == sorted(NAMES)
    assert first.connection["initialization_time"] > 0


def test_the_server_is_started_with_the_service_and_ends_with_it(starts: Starts) -> None:
    # F2-01 S2-001 S2-016
    _, first = starts
    assert first.connection["connection_state"] == "connected"
    assert first.connection["server_name"] == "TodoDatabaseServer"
    assert first.connection["process_handle"]
    assert not first.child_left


def test_the_next_start_has_the_same_registry_and_the_same_todos(starts: Starts) -> None:
    # F2-02 F2-07
    plane, first = starts
    assert plane.registry("todo") == first.registry
    status, body = plane.stack.call("list_todos")
    assert status == 200
    assert "Water the plants" in [todo["title"] for todo in body["data"]["todos"]]


def test_all_callers_share_one_connection_and_need_not_register_its_tools(starts: Starts) -> None:
    # S2-013 S2-015
    plane, _ = starts
    before = plane.connected("todo")["process_handle"]
    for way in MCP_WAYS:
        with user_of(plane.url, way) as user:
            assert set(NAMES) <= set(user.names())
            assert not user.call("list_todos").is_error
    assert plane.stack.call("list_todos")[0] == 200
    assert plane.connected("todo")["process_handle"] == before
    running = [pid for pid, command in _running() if _is_todo(command, plane.stack.folder)]
    assert running == [before]


def test_todos_are_in_the_servers_own_database_as_the_server_made_it(
    starts: Starts, tmp_path: Path
) -> None:
    # S2-061
    plane, _ = starts
    SqliteStore(tmp_path / "todo.sqlite3").close()
    ours = _schema(plane.stack.folder / "controlplane.sqlite3")
    assert not [name for name in ours if "todo" in name]
    assert _schema(plane.stack.folder / "todo.sqlite3") == _schema(tmp_path / "todo.sqlite3")


def _running() -> Iterator[tuple[int, list[str]]]:
    """Every process there is, with its command line."""
    for entry in filter(lambda path: path.name.isdigit(), Path("/proc").iterdir()):
        with suppress(OSError):
            yield int(entry.name), (entry / "cmdline").read_text().split("\0")


def _is_todo(command: list[str], state: Path) -> bool:
    # Who guards it has its command line at the end of their own.
    guards = any(part.endswith("guard.py") for part in command)
    return "examples.todo_server" in command and str(state) in command and not guards


def _schema(path: Path) -> dict[str, str]:
    with sqlite3.connect(path, timeout=10) as database:
        return dict(database.execute("SELECT name, sql FROM sqlite_master").fetchall())


@pytest.mark.parametrize("name", NAMES)
def test_what_agents_are_told_of_a_tool_is_what_the_server_wrote(starts: Starts, name: str) -> None:
    # S2-018 S2-030 S2-031 F2-23
    plane, _ = starts
    written = TOOLS[name].to_wire()
    with user_of(plane.url, MCP_WAYS[0]) as user:
        (tool,) = [one for one in user.run(user.client.list_tools).tools if one.name == name]
    assert tool.description == written["description"]
    assert tool.input_schema == written["inputSchema"]
    assert tool.output_schema == written["outputSchema"]
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True)
    assert {key: hints[key] for key in written["annotations"]} == written["annotations"]
    (row,) = [one for one in plane.registry("todo") if one["name"] == name]
    assert row["tags"] == written["_meta"]["tags"]
    assert row["metadata"]["version"] == "1.0"
    assert row["metadata"]["author"] == written["_meta"]["author"]
