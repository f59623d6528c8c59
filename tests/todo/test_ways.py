"""The server as a process: over stdio and HTTP, in both eras, on both databases, from start to stop."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import wait_until
from tests.todo.programs import MODULE, NAMES, PROJECT, Caller, caller, over_http, over_stdio
from tests.yardstick import stretched

VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture(params=["stdio", "http"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=list(VERSIONS))
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def served(way: str, mode: str, database: str) -> Iterator[Caller]:
    with ExitStack() as stack:
        if way == "stdio":
            yield stack.enter_context(caller(over_stdio(database), mode))
        else:
            server = stack.enter_context(over_http(database))
            yield stack.enter_context(caller(server.url, mode))


def test_all_five_work_over_every_way(served: Caller, mode: str) -> None:
    # S2-022 S2-023 S2-024 S2-025 S2-026 S2-032
    assert served.client.session.protocol_version == VERSIONS[mode]
    assert tuple(tool.name for tool in served.tools()) == NAMES
    todo = served.given("create_todo", title="Water the plants", priority=3)
    assert todo["status"] == "active"
    assert served.titles("search_todos", query="PLANTS") == ["Water the plants"]
    served.given("update_todo", todo_id=todo["id"], status="completed")
    assert served.titles("list_todos") == []
    assert served.titles("list_todos", status="completed") == ["Water the plants"]
    assert served.given("delete_todo", todo_id=todo["id"])["deleted"] is True


def test_five_tools_are_there_within_two_seconds_of_a_start(tmp_path: Path) -> None:
    # F2-02
    limit = stretched(2.0)
    began = time.monotonic()
    with caller(over_stdio(str(tmp_path / "todo.sqlite3"))) as todos:
        assert len(todos.tools()) == 5
        assert time.monotonic() - began < limit


def test_nobody_outside_this_machine_can_reach_it(tmp_path: Path) -> None:
    # F2-16
    with over_http(str(tmp_path / "todo.sqlite3")) as server:
        port = int(server.url.split(":")[-1].split("/")[0])
        with socket.socket() as other, pytest.raises(OSError, match="refused"):
            other.connect(("127.0.0.2", port))
        socket.create_connection(("127.0.0.1", port)).close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_good_order(tmp_path: Path, way: str, number: int) -> None:
    database = str(tmp_path / "todo.sqlite3")
    options = ["--http", "--port", "0"] if way == "http" else []
    process = subprocess.Popen(
        [sys.executable, *MODULE, "--database", database, *options],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: stoppable(process.pid), what="a server that can be told to stop")
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 0, said


def test_it_ends_when_its_client_hangs_up(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, *MODULE, "--database", str(tmp_path / "todo.sqlite3")],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    printed, said = process.communicate(b"", timeout=20)
    assert (process.returncode, printed, said) == (0, b"", b"")


@pytest.mark.parametrize(
    ("database", "said"),
    [
        ("/dev/null/todo.sqlite3", "/dev/null"),
        ("mysql://localhost/todo", "mysql:// is no database"),
        ("postgresql://nobody@127.0.0.1:1/todo", "127.0.0.1"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_and_ends_it(database: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, *MODULE, "--database", database],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert said in done.stderr


def test_the_file_lies_in_the_folder_that_was_named(tmp_path: Path) -> None:
    # S2-061
    arguments = [sys.executable, *MODULE, "--var-dir", str(tmp_path / "state")]
    subprocess.run(arguments, cwd=PROJECT, stdin=subprocess.DEVNULL, check=True, timeout=60)
    assert (tmp_path / "state" / "todo.sqlite3").exists()


def test_it_loads_nothing_of_the_control_plane() -> None:
    # S2-061
    program = (
        "import sys; import examples.todo_server.__main__, examples.todo_server.serving,"
        " examples.todo_server.store_sqlite, examples.todo_server.store_postgresql;"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'django', 'tools', 'controlplane', 'health'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def stoppable(pid: int) -> bool:
    """Whether a process has its handlers of signals by now."""
    status = Path(f"/proc/{pid}/status").read_text()
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    # Python has one for SIGINT from the start, so the other tells.
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)
