"""Processes that die come back, and what a killed supervisor leaves is cleaned up."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from supervisor.options import ServerOptions

from controlplane.runtime import supervisor_config
from controlplane.runtime.control import process_lives
from controlplane.runtime.orphans import find_orphans
from controlplane.runtime.paths import RuntimePaths
from controlplane.runtime.programs import programs
from tests.controlplane.stack import Stack, short_folder, stack
from tests.processes import wait_until
from tests.yardstick import stretched
from tools.conf import ServiceSettings


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    with stack() as made:
        made.up().wait_until_running()
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as made:
        yield made


def kill(made: Stack, name: str) -> int:
    """kill -9; the process id that is gone."""
    pid = made.processes()[name].pid
    os.kill(pid, signal.SIGKILL)
    return pid


def replaced(made: Stack, name: str, old: int) -> bool:
    process = made.processes().get(name)
    return process is not None and process.pid not in (0, old)


def kill_and_await_successor(made: Stack, name: str) -> None:
    old = kill(made, name)
    wait_until(lambda: replaced(made, name, old), stretched(5), f"a new {name}")


def healthy(made: Stack) -> bool:
    status, body = made.get("/health")
    return status == 200 and body["status"] == "healthy"


def test_killed_web_process_answers_again_within_five_seconds_and_the_operator_is_told(
    running: Stack,
) -> None:
    # F3-09, F3-11
    old = kill(running, "web")
    wait_until(
        lambda: replaced(running, "web", old) and running.get("/tools")[0] == 200, stretched(5)
    )
    new = running.processes()["web"].pid
    notice = f"web was restarted (process {new})"
    wait_until(lambda: notice in running.ups[0].output, what="the notice")
    wait_until(lambda: healthy(running), what="a healthy service")


def test_killed_worker_takes_work_again_within_five_seconds(running: Stack) -> None:
    # F3-09, F3-11
    ready = running.log("worker").count("ready.")
    old = kill(running, "worker")
    wait_until(
        lambda: running.log("worker").count("ready.") > ready, stretched(5), "a ready worker"
    )
    wait_until(lambda: healthy(running), what="a healthy service")
    wait_until(lambda: not _pool_of(old), what="the end of the old worker's pool")


def test_killed_redis_is_back_with_its_data_within_five_seconds(running: Stack) -> None:
    # F3-09, F3-11
    with redis.Redis(unix_socket_path=str(running.paths.redis_socket)) as client:
        client.set("kept", "yes")
        old = kill(running, "redis")
        wait_until(lambda: replaced(running, "redis", old) and _pings(client), stretched(5))
        assert client.get("kept") == b"yes"
    wait_until(lambda: healthy(running), what="a healthy service")


def test_killed_beat_is_replaced_within_five_seconds(running: Stack) -> None:
    kill_and_await_successor(running, "beat")


def test_process_killed_over_and_over_soon_after_its_start_still_comes_back(
    running: Stack,
) -> None:
    # Shipped supervisord would wait longer each time and give up in the end.
    for _ in range(6):
        wait_until(lambda: running.processes()["beat"].pid != 0, stretched(5), "a new process")
        kill_and_await_successor(running, "beat")
    wait_until(lambda: running.processes()["beat"].running, what="a running process")
    assert running.ups[0].output.count("beat does not stay up") == 1


def test_next_start_stops_what_a_killed_run_left_and_nothing_else(running: Stack) -> None:
    bystanders = {one.pid for one in running.processes().values()}
    with stack() as made:
        up = made.up().wait_until_running()
        before = {one.pid for one in made.processes().values()}
        # Two state folders run side by side, each with its own port.
        assert not before & bystanders
        assert running.get("/health")[0] == made.get("/health")[0] == 200
        up.process.kill()
        os.kill(int(made.paths.supervisor_pid.read_text()), signal.SIGKILL)
        assert made.leftovers() == {"redis", "web", "worker", "pipelines", "beat"}

        again = made.up().wait_until_running()
        assert "of a killed run were stopped: beat, pipelines, redis, web, worker" in again.output
        assert not any(process_lives(pid) for pid in before)
        assert healthy(made)
        again.interrupt()
        assert again.wait(stretched(10)) == 0
    assert {one.pid for one in running.processes().values()} == bystanders


def test_killed_supervisor_is_replaced_with_everything_it_ran(running: Stack) -> None:
    # The last one with this stack, which has run for longer than SHORTEST_LIFE: a supervisor that dies at
    # once would be given up.
    (up,) = running.ups
    before = {one.pid for one in running.processes().values()}
    os.kill(int(running.paths.supervisor_pid.read_text()), signal.SIGKILL)
    wait_until(lambda: "starting everything again" in up.output, stretched(20), "the notice")
    # What the dead one ran answers until it is stopped.
    wait_until(lambda: not any(map(process_lives, before)), stretched(30), "their end")
    wait_until(lambda: healthy(running), stretched(30), "a healthy service")
    after = {one.pid for one in running.processes().values()}
    assert len(after) == len(before)
    assert not before & after
    up.interrupt()
    assert up.wait(stretched(10)) == 0


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def _pool_of(leader: int) -> bool:
    """Whether the process group of a killed leader still has members."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def test_command_lines_survive_the_configuration_file(folder: Path) -> None:
    paths = RuntimePaths(folder / "100% a folder")
    paths.create()
    written = programs(
        paths,
        ServiceSettings(server_workers=2),
        worker_concurrency=3,
        pipeline_concurrency=2,
        embedded_redis=True,
    )
    supervisor_config.write(paths, written)
    assert supervisor_config.read_commands(paths) == {
        program.name: list(program.arguments) for program in written
    }
    # And as supervisord itself reads them.
    options = ServerOptions()
    options.realize(["-c", str(paths.supervisor_config), "-n"], doc="")
    groups = {group.name: group for group in options.process_group_configs}
    assert [process.name for process in groups["app"].process_configs] == [
        *("web-1", "web-2", "worker", "pipelines", "beat")
    ]
    assert groups["store"].priority < groups["app"].priority
    read = {
        process.name: shlex.split(process.command)
        for group in groups.values()
        for process in group.process_configs
    }
    assert read == {program.name: list(program.arguments) for program in written}


def test_every_command_names_its_state_folder(tmp_path: Path) -> None:
    """By which the processes of one control plane are told from those of another on the machine."""
    paths = RuntimePaths(tmp_path)
    listed = programs(
        paths, ServiceSettings(), worker_concurrency=1, pipeline_concurrency=1, embedded_redis=True
    )
    for program in listed:
        words = " ".join(program.arguments)
        assert str(tmp_path) in words or paths.digest in words, program.name


def test_no_redis_is_run_when_another_server_is_configured(tmp_path: Path) -> None:
    listed = programs(
        RuntimePaths(tmp_path),
        ServiceSettings(),
        worker_concurrency=1,
        pipeline_concurrency=1,
        embedded_redis=False,
    )
    assert [program.name for program in listed] == ["web", "worker", "pipelines", "beat"]


def test_damaged_configuration_file_has_no_commands(tmp_path: Path) -> None:
    paths = RuntimePaths(tmp_path)
    assert supervisor_config.read_commands(paths) == {}
    paths.supervisor_config.write_text("not a section\n")
    assert supervisor_config.read_commands(paths) == {}


def test_process_that_merely_names_the_folder_is_no_leftover(folder: Path) -> None:
    paths = RuntimePaths(folder)
    paths.create()
    paths.log("web").write_text("")
    listed = programs(
        paths, ServiceSettings(), worker_concurrency=1, pipeline_concurrency=1, embedded_redis=True
    )
    supervisor_config.write(paths, listed)
    with subprocess.Popen(
        [sys.executable, "-c", "input()", *listed[1].arguments], stdin=subprocess.PIPE
    ) as lookalike:
        assert find_orphans(paths) == []
        lookalike.terminate()
