"""SIGHUP: the configuration is read again, connections and calls stay."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.controlplane.stack import Stack, stack
from tests.processes import wait_until

CONFIG = """
service: {{name: mcp-control-plane, port: {port}, host: 127.0.0.1}}
monitoring: {{metrics_enabled: {metrics}}}
security: {{rate_limit: 100000}}
logging: {{level: {level}}}
"""


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Stack, Path]]:
    with stack() as made:
        path = made.folder / "http-server.yaml"
        path.write_text(CONFIG.format(port=made.port, metrics="true", level="INFO"))
        made.up(CONFIG_FILE=str(path)).wait_until_running()
        made.add_tool("slow")
        yield made, path


def hang_up(made: Stack) -> None:
    for name, process in made.processes().items():
        if name.startswith("web"):
            os.kill(process.pid, signal.SIGHUP)


def web_pid(made: Stack) -> int:
    return next(state.pid for name, state in made.processes().items() if name.startswith("web"))


def test_a_changed_file_takes_effect_while_calls_go_on(running: tuple[Stack, Path]) -> None:
    # F3-12 F3-13
    made, path = running
    before = web_pid(made)
    assert made.get("/metrics")[0] == 200
    path.write_text(CONFIG.format(port=made.port, metrics="false", level="WARNING"))
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(made.call, "slow", delay=2)
        wait_until(lambda: made.in_flight() >= 2, what="a call under way")
        hang_up(made)
        wait_until(lambda: made.get("/metrics")[0] == 404, what="metrics switched off")
        assert call.result()[0] == 200
    assert web_pid(made) == before


def test_a_bad_file_changes_nothing_and_is_reported(running: tuple[Stack, Path]) -> None:
    # F3-12
    made, path = running
    path.write_text("service: {name: Bad Name, port: 80}")
    hang_up(made)
    wait_until(lambda: "service.port" in made.log("web"), what="the faults in the log")
    assert made.get("/tools")[0] == 200
    assert made.get("/tools")[1]["service"] == "mcp-control-plane"
