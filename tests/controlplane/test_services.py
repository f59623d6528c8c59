"""`manage.py services`: see and steer what runs."""

from __future__ import annotations

import configparser
import os
import plistlib
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from controlplane.runtime.logs import follow, last_lines
from controlplane.runtime.table import duration
from tests.controlplane.stack import MANAGE, Stack, stack
from tests.processes import wait_until
from tests.yardstick import stretched

GREEN, RED = "\x1b[32m", "\x1b[31m"


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    """Started in the background by the command itself, with a configuration file to read again."""
    with stack() as made:
        file = made.folder / "service.yaml"
        file.write_text(document(metrics=True))
        started = made.manage("services", "start", "--no-corpus", "--config", str(file))
        assert started.returncode == 0, started.stderr
        assert "The control plane is running." in started.stdout
        assert "Ctrl-C" not in started.stdout
        yield made


def document(*, metrics: bool) -> str:
    return (
        "service: {name: steered, port: 8000, host: 127.0.0.1}\n"
        f"monitoring: {{metrics_enabled: {str(metrics).lower()}}}\n"
    )


def pids(made: Stack) -> dict[str, int]:
    return {name: one.pid for name, one in made.processes().items()}


def settled(made: Stack) -> bool:
    return bool(made.processes()) and made.manage("services", "status").returncode == 0


def test_status_is_a_plain_table_off_a_terminal(running: Stack) -> None:
    # F3-10
    wait_until(lambda: settled(running), what="a settled stack")
    shown = running.manage("services", "status")
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout
    header, *rows = [re.split(r"  +", line) for line in shown.stdout.splitlines()]
    assert header == ["NAME", "STATE", "PID", "UPTIME", "PORT", "HEALTH"]
    assert [(row[0], row[1], row[4], row[5]) for row in rows] == [
        ("redis", "RUNNING", "-", "answers"),
        ("web", "RUNNING", str(running.port), "healthy"),
        ("worker", "RUNNING", "-", "connected"),
        ("pipelines", "RUNNING", "-", "-"),
        ("beat", "RUNNING", "-", "connected"),
    ]
    assert {row[0]: int(row[2]) for row in rows} == pids(running)


def test_status_is_coloured_on_a_terminal_unless_no_color_is_set(running: Stack) -> None:
    # F3-10
    assert GREEN in on_terminal(running, {})
    assert "\x1b" not in on_terminal(running, {"NO_COLOR": "1"})


def test_health_lists_the_dependencies(running: Stack) -> None:
    # F3-10
    shown = running.manage("services", "health")
    assert shown.returncode == 0, shown.stdout
    assert re.search(r"service +healthy", shown.stdout)
    for name in ("database", "redis", "worker"):
        assert re.search(rf"{name} +connected +\d+ ms", shown.stdout)


def test_stopped_process_shows_and_makes_status_fail_until_it_is_started(running: Stack) -> None:
    # F3-10
    others = {name: pid for name, pid in pids(running).items() if name != "worker"}
    stopped = running.manage("services", "stop", "worker")
    assert (stopped.returncode, stopped.stdout) == (0, "Stopped worker.\n")
    shown = running.manage("services", "status")
    assert shown.returncode == 1
    assert re.search(r"worker +STOPPED +- +- +- +-", shown.stdout)
    wait_until(
        lambda: running.manage("services", "health").returncode == 1, 30, "word of the worker"
    )
    assert RED in on_terminal(running, {})

    started = running.manage("services", "start", "worker")
    assert re.search(r"worker +RUNNING", started.stdout)
    assert {name: pid for name, pid in pids(running).items() if name != "worker"} == others
    wait_until(lambda: settled(running), what="a settled stack")


def test_restart_of_one_process_leaves_the_others_alone(running: Stack) -> None:
    # F3-10, F3-11
    before = pids(running)
    shown = running.manage("services", "restart", "web")
    assert shown.returncode == 0, shown.stdout
    after = pids(running)
    assert {name for name in before if before[name] != after[name]} == {"web"}
    assert running.get("/health")[0] == 200


def test_reload_reads_the_file_again_and_keeps_the_process(running: Stack) -> None:
    # F3-13: the signal side.
    before = pids(running)
    assert running.get("/metrics")[0] == 200
    (running.folder / "service.yaml").write_text(document(metrics=False))
    told = running.manage("services", "reload")
    assert told.returncode == 0
    assert told.stdout.startswith("Told web to read the configuration again")
    wait_until(lambda: running.get("/metrics")[0] == 404, what="the new setting")
    assert pids(running) == before


def test_logs_show_the_last_lines_of_one_process(running: Stack) -> None:
    # F3-10
    shown = running.manage("services", "logs", "web", "-n", "2")
    assert shown.returncode == 0
    assert shown.stdout.splitlines() == running.log("web").splitlines()[-2:]


def test_logs_of_all_processes_are_told_apart(running: Stack) -> None:
    shown = running.manage("services", "logs", "-n", "1")
    for name in ("beat", "pipelines", "redis", "supervisord", "web", "worker"):
        assert f"==> {name}.log <==" in shown.stdout


def test_followed_log_shows_what_is_added(running: Stack) -> None:
    with subprocess.Popen(
        [*MANAGE, "services", "logs", "web", "-n", "0", "-f"],
        env=dict(running.environment),
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        # It follows from the moment it is up, so call until a line arrives.
        wait_until(lambda: _calls_until_readable(running, follower), what="a followed line")
        assert "server_metrics" in follower.stdout.readline()
        follower.send_signal(2)
        assert follower.wait(10) == 0


def test_unknown_names_are_refused_with_the_known_ones(running: Stack) -> None:
    refused = running.manage("services", "restart", "nobody")
    assert refused.returncode == 1
    assert "there are: redis, web, worker, pipelines, beat" in refused.stderr
    assert running.manage("services", "logs", "nobody").returncode == 1
    assert running.manage("services", "dance").returncode == 2


def test_restart_of_everything_takes_up_changed_settings(running: Stack) -> None:
    # F3-11, F3-14: server.workers
    before = pids(running)
    begun = time.monotonic()
    shown = running.manage("services", "restart", SERVER__WORKERS="2")
    assert time.monotonic() - begun < stretched(20)
    assert re.search(r"web-1 +RUNNING .*\n.*web-2 +RUNNING", shown.stdout)
    after = pids(running)
    assert set(after) == {"redis", "web-1", "web-2", "worker", "pipelines", "beat"}
    assert not set(before.values()) & set(after.values())
    wait_until(lambda: settled(running), what="a settled stack")
    both = running.manage("services", "restart", "web")
    assert re.search(r"web-1 .*\n.*web-2 ", both.stdout)
    assert running.get("/health")[0] == 200


def test_stop_of_everything_ends_the_supervisor_and_then_nothing_runs() -> None:
    # F3-06, F3-10
    with stack() as made:
        nothing = made.manage("services", "status")
        assert nothing.returncode == 3
        assert "Nothing is running" in nothing.stderr
        assert made.manage("services", "start", "--no-demo").returncode == 0
        refused = made.manage("up")
        assert "already running" in refused.stderr
        stopped = made.manage("services", "stop")
        assert stopped.returncode == 0
        assert stopped.stdout.endswith("Stopped.\n")
        assert made.leftovers() == set()
        for action in ("stop", "health"):
            assert made.manage("services", action).returncode == 3
        assert made.manage("services", "logs", "web", "-n", "1").returncode == 0


def test_systemd_unit_starts_at_boot_and_restarts(tmp_path: Path) -> None:
    # F3-09
    made = Stack(tmp_path / "with space")
    unit = configparser.RawConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(made.manage("services", "unit").stdout)
    service = unit["Service"]
    assert service["ExecStart"].endswith("manage.py up")
    assert service["Restart"] == "on-failure"
    assert service["Environment"] == f'"VAR_DIR={tmp_path}/with space"'
    assert unit["Install"]["WantedBy"] == "default.target"


def test_launchd_list_starts_at_boot_and_restarts(tmp_path: Path) -> None:
    # F3-09
    made = Stack(tmp_path)
    listed = plistlib.loads(made.manage("services", "unit", "--launchd").stdout.encode())
    assert listed["ProgramArguments"][-1] == "up"
    assert listed["RunAtLoad"] is True
    assert listed["KeepAlive"] == {"SuccessfulExit": False}
    assert listed["EnvironmentVariables"] == {"VAR_DIR": str(tmp_path)}


def on_terminal(made: Stack, extra: dict[str, str]) -> str:
    """What `services status` writes to a terminal."""
    ours, theirs = pty.openpty()
    try:
        environment = {name: text for name, text in made.environment.items() if name != "NO_COLOR"}
        subprocess.run(
            [*MANAGE, "services", "status"],
            env={**environment, **extra},
            stdout=theirs,
            check=False,
            timeout=60,
        )
        return os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)


def _calls_until_readable(made: Stack, follower: subprocess.Popen[str]) -> bool:
    made.call("server_metrics")
    assert follower.stdout is not None
    ready, _, _ = select.select([follower.stdout], [], [], 0.2)
    return bool(ready)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0s"), (59, "59s"), (65, "1m 5s"), (7320, "2h 2m"), (90_000, "1d 1h")],
)
def test_durations_read_well(seconds: int, said: str) -> None:
    assert duration(seconds) == said


def test_last_lines_are_read_from_the_end_of_a_large_file(tmp_path: Path) -> None:
    file = tmp_path / "large.log"
    file.write_text("".join(f"line {number} {'x' * 90}\n" for number in range(5000)))
    lines = last_lines(file, 1500)
    assert (len(lines), lines[0].split()[1], lines[-1].split()[1]) == (1500, "3500", "4999")
    assert last_lines(file, 0) == []
    assert last_lines(tmp_path / "missing.log", 5) == []


def test_following_goes_on_in_the_next_file_after_rotation(tmp_path: Path) -> None:
    file = tmp_path / "web.log"
    file.write_text("old\n")

    def rotate() -> None:
        file.rename(tmp_path / "web.log.1")
        file.write_text("rotated\n")

    steps: Iterator[Callable[[], None]] = iter(
        [lambda: append(file, "first\nhal"), lambda: append(file, "f\n"), rotate]
    )
    seen: list[str] = []

    def gone() -> bool:
        step = next(steps, None)
        if step is not None:
            step()
        return len(seen) == 3

    for line in follow([file], gone):
        seen.append(line)  # noqa: PERF402 - `gone` counts them as they come
    assert seen == ["first", "half", "rotated"]


def append(file: Path, text: str) -> None:
    with file.open("a") as handle:
        handle.write(text)
