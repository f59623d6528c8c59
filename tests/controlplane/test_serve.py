"""`manage.py serve`: taking the port, first answer, and a stop that finishes its calls."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from controlplane.runtime.binding import PortRefused, check_port_is_free, listening_socket
from controlplane.runtime.server import WebServer, drain_seconds
from tests.controlplane.stack import MANAGE, Stack, empty_stack, free_port, stack
from tests.processes import wait_until
from tests.yardstick import bare_start

# How coarsely the system tells when a process began.
CLOCK_TICK = 0.05
TCP_TABLE = Path("/proc/net/tcp")


@pytest.fixture(scope="module")
def migrated() -> Iterator[Stack]:
    """A folder with a database and a slow tool; no other process runs in it."""
    with stack() as made:
        assert made.manage("seed_demo").returncode == 0
        yield made


@pytest.fixture
def servers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()


def serve(made: Stack, started: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*MANAGE, "serve"],
        env=dict(made.environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started.append(process)
    return process


def started_and_stopped(migrated: Stack, servers: list[subprocess.Popen[bytes]]) -> float:
    """Processor seconds of a web process that answered once."""
    process = serve(migrated, servers)
    wait_until(lambda: migrated.get("/tools")[0] == 200, 30, "the first answer")
    process.terminate()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def test_web_process_answers_without_redis_and_costs_little_over_a_bare_start(
    migrated: Stack, servers: list[subprocess.Popen[bytes]]
) -> None:
    # Processor time beside that of a bare start, because a busy machine is slow in both. The neighbours'
    # share of it comes and goes between the two, so the least of a few tries is what a start costs.
    tries = (
        started_and_stopped(migrated, servers) / bare_start().processor_seconds for _ in range(3)
    )
    assert any(ratio < 3 for ratio in tries)


def test_the_start_is_measured_from_the_birth_of_the_process(  # S4-080
    migrated: Stack, servers: list[subprocess.Popen[bytes]]
) -> None:
    began = time.monotonic()
    serve(migrated, servers)
    wait_until(lambda: migrated.get("/tools")[0] == 200, 30, "the first answer")
    waited = time.monotonic() - began
    _, answer = migrated.call("server_metrics")
    measured = answer["data"]["startup_time_seconds"]
    # Loading the program alone takes longer than the first; nothing can take longer than we waited.
    assert 0.1 < measured <= waited + CLOCK_TICK
    assert "SC-007" not in answer["data"]["insufficient_data"]


def test_call_in_flight_is_answered_after_sigterm_and_new_connections_are_not_taken(
    migrated: Stack, servers: list[subprocess.Popen[bytes]]
) -> None:
    # F3-06, S3-042
    process = serve(migrated, servers)
    wait_until(lambda: migrated.get("/tools")[0] == 200, 30, "the first answer")
    migrated.add_tool("slow")
    answers: list[int] = []
    caller = threading.Thread(target=lambda: answers.append(migrated.call("slow", delay=1)[0]))
    caller.start()
    wait_until(lambda: migrated.in_flight() > 1, what="a call in flight")
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: migrated.get("/tools")[0] in (0, 503), what="the end of new calls")
    caller.join(10)
    assert answers == [200]
    assert process.wait(5) == 0


async def _nothing(scope: object, receive: object, send: object) -> None:
    """An application that is never called."""


def test_application_is_told_at_the_first_signal_and_only_once() -> None:
    # S3-041
    told: list[bool] = []
    server = WebServer(uvicorn.Config(_nothing), lambda: told.append(server.should_exit))
    server.handle_exit(signal.SIGTERM, None)
    server.handle_exit(signal.SIGINT, None)
    # Told while the server still took connections.
    assert told == [False]
    assert server.should_exit


@pytest.mark.parametrize(("whole", "drain"), [(5, 2.75), (60, 57.75), (1, 0.5)])
def test_drain_leaves_time_for_redis_to_stop(whole: int, drain: float) -> None:
    # F3-14
    assert drain_seconds(whole) == drain


def test_taken_port_is_refused_in_one_line_that_names_the_variable(migrated: Stack) -> None:
    with socket.create_server(("127.0.0.1", migrated.port)):
        refused = migrated.manage("serve")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert f"Port {migrated.port}" in refused.stderr
    assert "SERVICE__PORT" in refused.stderr


def test_port_shared_by_another_folders_web_process_is_refused(migrated: Stack) -> None:
    # The kernel would let the two share it, and clients would reach either.
    with stack() as other, listening_socket(other.paths, "127.0.0.1", migrated.port):
        refused = migrated.manage("serve")
    assert refused.returncode == 1
    assert "taken by another program" in refused.stderr


@pytest.mark.skipif(not TCP_TABLE.exists(), reason="counts listeners in Linux's table")
def test_web_processes_of_one_folder_share_the_port(
    migrated: Stack, servers: list[subprocess.Popen[bytes]]
) -> None:
    # F3-14: server.workers
    first, second = serve(migrated, servers), serve(migrated, servers)
    wait_until(lambda: migrated.get("/tools")[0] == 200, 30, "the first answer")
    wait_until(lambda: _listeners(migrated.port) == 2, 30, "two listeners")
    first.terminate()
    assert first.wait(10) == 0
    assert migrated.get("/tools")[0] == 200
    assert second.poll() is None


def test_listening_on_the_network_without_keys_is_refused(migrated: Stack) -> None:
    # C19
    host = {"SERVICE__HOST": "0.0.0.0"}  # noqa: S104 - refused
    refused = migrated.manage("serve", **host)
    assert refused.returncode == 1
    assert "Refusing to listen on 0.0.0.0 with API keys off" in refused.stderr


@pytest.mark.parametrize(
    "allowed", [{"SECURITY__API_KEYS_ENABLED": "true"}, {"ALLOW_KEYLESS_NETWORK": "true"}]
)
def test_listening_on_the_network_is_allowed_with_keys_or_on_request(
    migrated: Stack, allowed: dict[str, str]
) -> None:
    # C19: the port is the only thing left to refuse.
    with socket.create_server(("127.0.0.1", migrated.port)):
        refused = migrated.manage("serve", "--host", "0.0.0.0", **allowed)  # noqa: S104
    assert "taken" in refused.stderr


def test_missing_database_is_said_plainly() -> None:
    with empty_stack() as made:
        refused = made.manage("serve")
    assert refused.returncode == 1
    assert "DATABASE_URL" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_address_of_another_machine_is_refused() -> None:
    with pytest.raises(PortRefused, match="not an address of this machine"):
        check_port_is_free("192.0.2.1", free_port())


def test_name_that_does_not_resolve_is_refused() -> None:
    with pytest.raises(PortRefused, match="SERVICE__HOST"):
        check_port_is_free("no-such-host.invalid", free_port())


def _listeners(port: int) -> int:
    """How many sockets listen on a local port."""
    wanted = f":{port:04X}"
    rows = [line.split() for line in TCP_TABLE.read_text().splitlines()[1:]]
    return sum(1 for row in rows if row[1].endswith(wanted) and row[3] == "0A")
