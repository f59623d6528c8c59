"""The thread of a check that may hang."""

from __future__ import annotations

import threading

import pytest

from health.probe import Probe
from tests.processes import wait_until


def threads_named(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_work_runs_in_a_daemon_thread_that_ends_with_it() -> None:
    probe: Probe[threading.Thread] = Probe("probe-again")
    for _ in range(3):
        future = probe.submit(threading.current_thread)
        assert future is not None
        thread = future.result(10)
        assert (thread.name, thread.daemon) == ("probe-again", True)
    wait_until(lambda: not threads_named("probe-again"), what="the end of the threads")


def test_a_failure_reaches_the_waiter_and_the_next_work_runs() -> None:
    probe: Probe[int] = Probe("probe-failing")

    def fail() -> int:
        raise ValueError("no")

    future = probe.submit(fail)
    assert future is not None
    with pytest.raises(ValueError, match="no"):
        future.result(10)
    again = probe.submit(lambda: 7)
    assert again is not None
    assert again.result(10) == 7


def test_while_work_hangs_no_more_is_taken_and_no_thread_is_added() -> None:
    probe: Probe[bool] = Probe("probe-hanging")
    release = threading.Event()
    hanging = probe.submit(lambda: release.wait(30))
    assert hanging is not None
    try:
        assert [probe.submit(lambda: True) for _ in range(5)] == [None] * 5
        assert len(threads_named("probe-hanging")) == 1
    finally:
        release.set()
    assert hanging.result(10) is True
    wait_until(lambda: probe.submit(lambda: True) is not None, what="a free probe")
