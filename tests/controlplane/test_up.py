"""`manage.py up`: what it creates, prints, refuses and stops."""

from __future__ import annotations

import json
import shlex
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.controlplane.stack import Stack, empty_stack, free_port, short_folder, stack
from tests.processes import start_valkey, wait_until


@pytest.fixture
def fresh() -> Iterator[Stack]:
    with stack() as made:
        yield made


@pytest.fixture
def empty() -> Iterator[Stack]:
    with empty_stack() as made:
        yield made


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A demo of two documents."""
    for name, text in (
        ("examples/corpus/otters.md", "# Otters\n\nOtters hold hands while they sleep.\n"),
        ("docs/holt.md", "# Maren Holt\n\nMaren Holt was a shipbuilder in Varnhaven.\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_up_from_an_empty_folder_prints_address_login_and_a_first_call_that_works(
    empty: Stack, demo: Path
) -> None:
    # F3-11 F0-01 F0-25, and the "make run" paragraph.
    running = empty.up(corpus=True, CONTROL_PLANE_TEST_DEMO=str(demo)).wait_until_running()
    for page in ("tools", "api/docs", "admin/"):
        assert f"http://127.0.0.1:{empty.port}/{page}" in running.output
    for line in ("(healthy)", "migrations applied", "demo: 2 documents are indexed now"):
        assert line in running.output
    password = running.password()
    assert password is not None
    assert running.output.count(password) == 1
    assert _logs_in(empty, "admin", password)

    # Whether the call works was not found out by one that failed.
    assert "no index yet" not in empty.log("web")
    command = running.output.split("A first call:")[1].split("  Logs")[0]
    answer = subprocess.run(
        shlex.split(command.replace("\\\n", " ")), capture_output=True, text=True, check=True
    )
    told = json.loads(answer.stdout)
    assert told["success"], told
    found = told["data"]
    assert found["metadata"]["pipeline_name"] == "basic"
    assert "shipbuilder" in found["answer"]
    assert found["sources"][0] == "docs/holt.md"
    for name in ("basic_rerank", "crag", "graphrag", "pylate_colbert", "iris_global_graphrag"):
        status, body = empty.call(f"rag_{name}", query="What do otters do while they sleep?")
        assert (status, bool(body["data"]["answer"])) == (200, True), body
    assert f"  MCP         http://127.0.0.1:{empty.port}/mcp\n" in running.output
    assert f'"http://127.0.0.1:{empty.port}/mcp"' in _told_to_agents(empty, running.output)
    assert stat.S_IMODE(empty.paths.run_dir.stat().st_mode) == 0o700

    running.interrupt()
    assert running.wait() == 0
    off = (
        "from tools.models import Tool; Tool.objects.filter(name='rag_basic').update(enabled=False)"
    )
    assert empty.manage("shell", "--no-imports", "-c", off).returncode == 0
    again = empty.up(corpus=True, CONTROL_PLANE_TEST_DEMO=str(demo)).wait_until_running()
    assert "demo: 2 documents, up to date" in again.output
    # No call is promised that would be refused.
    assert "it cannot be asked yet: Tool not found: rag_basic" in again.output
    assert '"tool": "server_metrics"' in again.output
    assert again.password() is None
    assert "set earlier" in again.output
    assert "changepassword admin" in again.output
    assert "API key" not in again.output
    again.interrupt()
    assert again.wait() == 0


def test_interrupt_finishes_calls_in_flight_and_stops_everything_within_five_seconds(
    fresh: Stack,
) -> None:
    # F3-06, S3-041, S3-042
    running = fresh.up().wait_until_running()
    fresh.add_tool("slow")
    answers: dict[int, tuple[int, Any]] = {}

    def call(seconds: int) -> None:
        answers[seconds] = fresh.call("slow", delay=seconds)

    callers = [threading.Thread(target=call, args=[seconds]) for seconds in (2, 25)]
    for caller in callers:
        caller.start()
    wait_until(lambda: fresh.in_flight() > 2, what="two calls in flight")

    running.interrupt()
    assert running.wait() == 0
    for caller in callers:
        caller.join(5)
    # One fits into the time a stop may take, the other does not, is cut off and told so.
    assert answers[2][0] == 200
    status, body = answers[25]
    assert (status, body["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert fresh.leftovers() == set()
    assert fresh.get("/health")[0] == 0
    assert running.stop_seconds() <= 5


def test_demo_that_cannot_be_read_keeps_nothing_from_starting(fresh: Stack, demo: Path) -> None:
    (demo / "docs" / "holt.md").write_bytes(b"\0\1\2\3")
    running = fresh.up(corpus=True, CONTROL_PLANE_TEST_DEMO=str(demo)).wait_until_running()
    assert "the demo documents are not indexed: " in running.output
    assert "The service runs all the same" in running.output
    assert '"tool": "server_metrics"' in running.output
    assert fresh.get("/health")[0] == 200
    running.interrupt()
    assert running.wait() == 0


def test_interrupt_during_the_start_leaves_no_process(fresh: Stack) -> None:
    running = fresh.up()
    wait_until(lambda: "web" in fresh.processes(), 60, "the first processes")
    running.interrupt()
    assert running.wait() == 0
    assert fresh.leftovers() == set()


def test_taken_port_is_named_with_a_way_out(fresh: Stack) -> None:
    with socket.create_server(("127.0.0.1", fresh.port)):
        refused = fresh.manage("up")
    assert refused.returncode == 1
    assert f"Port {fresh.port} on 127.0.0.1 is taken" in refused.stderr
    assert "SERVICE__PORT=" in refused.stderr
    assert "make run PORT=" in refused.stderr
    assert fresh.leftovers() == set()


def test_listening_on_the_network_without_keys_is_refused(fresh: Stack) -> None:
    # C19
    refused = fresh.manage("up", "--host", "0.0.0.0")  # noqa: S104 - refused
    assert refused.returncode == 1
    assert "0.0.0.0 with API keys off" in refused.stderr
    assert "SECURITY__API_KEYS_ENABLED=true" in refused.stderr
    assert "ALLOW_KEYLESS_NETWORK=true" in refused.stderr


def test_unusable_port_flag_is_named(fresh: Stack) -> None:
    refused = fresh.manage("up", "--port", "80")
    assert refused.returncode == 1
    assert "--port must be a whole number from 1024 to 65535" in refused.stderr


def test_unusable_override_is_named(fresh: Stack) -> None:
    refused = fresh.manage("up", SERVER__WORKERS="many")
    assert refused.returncode == 1
    assert "SERVER__WORKERS" in refused.stderr
    assert "'many'" in refused.stderr


def test_bad_configuration_file_stops_the_start_with_its_faults(fresh: Stack) -> None:
    # F3-12
    file = fresh.folder / "service.yaml"
    file.write_text("service: {name: Bad Name, port: 8000, host: 127.0.0.1}\n")
    refused = fresh.manage("up", "--config", str(file))
    assert refused.returncode == 1
    assert str(file) in refused.stderr
    assert "service.name" in refused.stderr


def test_weak_configured_password_is_refused_by_name(fresh: Stack) -> None:
    refused = fresh.manage("up", ADMIN_PASSWORD="password")
    assert refused.returncode == 1
    assert "ADMIN_PASSWORD" in refused.stderr
    assert "too common" in refused.stderr


def test_flag_wins_over_environment_and_environment_over_file(fresh: Stack) -> None:
    # F3-12
    file = fresh.folder / "service.yaml"
    file.write_text(
        "service: {name: filed, port: 8001, host: 127.0.0.1}\nserver: {workers: 2}\n"
        "security: {api_keys_enabled: true}\n"
    )
    flag = free_port()
    running = fresh.up(
        "--config", str(file), "--port", str(flag), SERVER__WORKERS="1", ADMIN_PASSWORD="x7-Kestrel"
    ).wait_until_running()
    assert f"http://127.0.0.1:{flag}/tools" in running.output
    assert set(fresh.processes()) == {"redis", "web", "worker", "pipelines", "beat"}
    assert "from ADMIN_PASSWORD" in running.output
    assert "x7-Kestrel" not in running.output
    assert "-H 'X-API-Key: cp_" in running.output
    fresh.port = flag
    assert fresh.get("/tools")[0] == 401
    # SIGTERM stops everything as Ctrl-C does.
    running.process.send_signal(signal.SIGTERM)
    assert running.wait() == 0
    assert fresh.leftovers() == set()


def test_second_up_is_refused_and_harms_nothing_and_the_first_can_be_stopped_from_elsewhere(
    fresh: Stack,
) -> None:
    running = fresh.up().wait_until_running()
    before = {name: one.pid for name, one in fresh.processes().items()}
    refused = fresh.manage("up")
    assert refused.returncode == 1
    assert "already running" in refused.stderr
    assert f"http://127.0.0.1:{fresh.port}" in refused.stderr
    assert f"process {running.process.pid}" in refused.stderr
    assert {name: one.pid for name, one in fresh.processes().items()} == before
    assert fresh.get("/health")[0] == 200

    # Stopped from elsewhere, it ends.
    assert fresh.manage("services", "stop").returncode == 0
    assert running.wait() == 0
    assert "Stopped from elsewhere." in running.output


def test_configured_redis_is_used_and_left_running(fresh: Stack) -> None:
    own = fresh.folder / "own.sock"
    server = start_valkey(fresh.folder / "own", own)
    try:
        running = fresh.up(REDIS_URL=f"unix://{own}").wait_until_running()
        assert set(fresh.processes()) == {"web", "worker", "pipelines", "beat"}
        assert "(healthy)" in running.output
        running.interrupt()
        assert running.wait() == 0
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(10)


def test_configured_redis_that_is_away_is_told_and_calls_are_served(fresh: Stack) -> None:
    running = fresh.up(REDIS_URL=f"unix://{fresh.folder}/away.sock").wait_until_running()
    assert "does not answer (REDIS_URL)" in running.output
    assert "(degraded; redis:" in running.output
    assert fresh.call("server_metrics")[0] == 200
    running.interrupt()
    assert running.wait() == 0


def test_state_folder_too_deep_for_sockets_works() -> None:
    with short_folder() as folder:
        deep = folder / ("deep" * 20)
        deep.mkdir()
        made = Stack(deep)
        try:
            running = made.up("--no-demo").wait_until_running()
            assert not made.paths.run_dir.is_relative_to(deep)
            assert made.get("/tools")[1]["tools"] == []
            # So does a closed terminal.
            running.process.send_signal(signal.SIGHUP)
            assert running.wait() == 0
            assert made.leftovers() == set()
        finally:
            made.end()


def test_unwritable_state_folder_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    made = Stack(blocked / "var", SECRET_KEY="k" * 50)
    refused = made.manage("up")
    assert refused.returncode == 1
    assert "VAR_DIR" in refused.stderr
    assert "Traceback" not in refused.stderr


def _logs_in(made: Stack, user: str, password: str) -> bool:
    page = "/admin/login/"
    with httpx2.Client(base_url=f"http://127.0.0.1:{made.port}", timeout=30) as client:
        client.get(page)
        token = client.cookies["csrftoken"]
        given = {"username": user, "password": password, "csrfmiddlewaretoken": token}
        return client.post(page, data=given).status_code == 302


def _told_to_agents(made: Stack, output: str) -> str:
    """What the command on the line for agents prints."""
    line = output.partition("  Agents      ")[2].partition("  (")[0]
    told = subprocess.run(
        ["/bin/sh", "-c", line],
        env=made.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return told.stdout


def test_unreachable_database_is_named_without_its_password() -> None:
    url = "postgres://me:hunter2@127.0.0.1:1/plane"
    with stack(DATABASE_URL=url) as made:
        refused = made.manage("up")
    assert refused.returncode == 1
    assert "DATABASE_URL" in refused.stderr
    assert "hunter2" not in refused.stderr
    assert "Traceback" not in refused.stderr
