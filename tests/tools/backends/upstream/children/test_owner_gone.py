"""Children whose owner is killed, or whose loop ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import wait_until
from tests.tools.backends.upstream.children.conftest import PROGRAM
from tests.tools.backends.upstream.children.left import alive, children_of

ROOT = Path(__file__).parents[5]


def owner(way: str, child: str, mark: str) -> subprocess.Popen[bytes]:
    """A process that has opened a channel to a child."""
    started = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.tools.backends.upstream.children.owner",
            way,
            sys.executable,
            "-S",
            PROGRAM,
            child,
            mark,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"open\n"
    started.stdout.close()
    return started


@pytest.mark.parametrize("way", ["asyncio", "uvloop", "forking"])
def test_no_child_outlives_an_owner_that_is_killed(way: str, mark: str) -> None:
    # S2-016
    killed = owner(way, "daemon", mark)
    forked = set(children_of(killed.pid)) - set(_guards(mark))
    try:
        assert len(alive(mark)) > 2
        killed.send_signal(signal.SIGKILL)
        killed.wait(10)
        wait_until(lambda: not _guards(mark), what="the end of all children")
    finally:
        for pid in forked:
            _kill(pid)


def test_no_child_outlives_the_loop_of_its_channel(mark: str) -> None:
    forgetting = owner("forgetting", "daemon", mark)
    try:
        wait_until(lambda: not children_of(forgetting.pid), what="an owner without children")
        assert not _guards(mark)
    finally:
        forgetting.kill()
        forgetting.wait(10)


def _guards(mark: str) -> list[int]:
    """Those of the mark that are not owners: their arguments hold it too."""
    return [pid for pid in alive(mark) if b"children.owner" not in _arguments(pid)]


def _arguments(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _kill(pid: int) -> None:
    import os

    os.kill(pid, signal.SIGKILL)
