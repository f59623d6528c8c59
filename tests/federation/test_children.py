"""The children of the control plane: so many, so large, and none left behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.doors import RestDoor
from tests.federation.faulty import behind, call, registered, wait_for_state, web_process
from tests.mcp_upstream import Record, stdio_entry
from tests.processes import wait_until

HUNGRY = """
import os, sys, time
with open(sys.argv[1], "a") as pids:
    pids.write(f"{os.getpid()}\\n")
hoard = bytearray(300 << 20)
hoard[::4096] = b"x" * len(hoard[::4096])
time.sleep(600)
"""


def test_an_idle_child_is_let_go_and_comes_back_with_the_next_call(
    door: RestDoor, tmp_path: Path
) -> None:
    with behind(tmp_path, "stdio", idle_seconds=1) as hand:
        assert call(door, "echo").status == 200
        (first,) = hand.alive()
        wait_until(lambda: not hand.alive(), what="an idle child's leave")
        wait_for_state(door, "disconnected")
        assert call(door, "echo").status == 200
        assert hand.pids() == [first, *hand.alive()]


def test_there_are_no_more_children_than_there_may_be(
    door: RestDoor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CONTROL_PLANE["UPSTREAM_MAX_CHILDREN"] = 1
    try:
        with (
            behind(tmp_path, "stdio", "one", prefix="one_"),
            behind(tmp_path, "stdio", "two", prefix="two_") as two,
        ):
            assert call(door, "one_echo").status == 200
            refused = call(door, "two_echo")
            assert (refused.status, refused.message) == (503, "two cannot be reached")
            assert "too many child processes: this process may have 1" in caplog.text
            assert call(door, "one_echo").status == 200
            assert two.pids() == []
            door.stop()
    finally:
        settings.CONTROL_PLANE["UPSTREAM_MAX_CHILDREN"] = 32


def test_a_child_that_takes_more_memory_than_it_may_is_ended(
    door: RestDoor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    commands, pids = settings.CONTROL_PLANE["UPSTREAM_COMMANDS"], tmp_path / "pids"
    commands["hungry"] = {"command": [sys.executable, "-c", HUNGRY, str(pids)], "environment": []}
    try:
        registered("hungry", transport="stdio", command="hungry", url="", memory_mb=64)
        assert call(door, "echo").code == "SERVICE_UNAVAILABLE"
        assert "killed: used more than 64 MB" in caplog.text
        door.stop()
        assert [pid for pid in pids.read_text().split() if Path(f"/proc/{pid}").exists()] == []
    finally:
        del commands["hungry"]


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_no_child_outlives_the_web_process(
    transactional_db: None, redis_url: str, tmp_path: Path, how: str
) -> None:
    names, folders = ("one", "two"), []
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        folders.append(Record(folder))
        registered(name, transport="stdio", command=name, url="", prefix=f"{name}_")
    commands = {name: stdio_entry(tmp_path / name) for name in names}
    with web_process(tmp_path / "log", UPSTREAM_COMMANDS=json.dumps(commands)) as (url, process):
        assert call(url, "one_echo").status == 200
        assert call(url, "two_echo").status == 200
        assert [len(folder.alive()) for folder in folders] == [1, 1]
        # One of them is in the middle of something that it would go on with.
        folders[1].set(hang="call")
        if how == "killed":
            process.kill()
        else:
            process.terminate()
        process.wait(20)
        wait_until(lambda: not any(folder.alive() for folder in folders), what="no children")
