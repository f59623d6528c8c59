"""Servers that restart: nobody notices but who was in the middle of something."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.doors import RestDoor
from tests.federation.faulty import behind, call, wait_for_state
from tests.journal import row_of
from tests.processes import wait_until


@pytest.mark.parametrize(("era", "restarts"), [("modern", 5), ("handshake", 20)])
def test_restarts_in_a_row_lose_no_call(
    door: RestDoor, tmp_path: Path, era: str, restarts: int
) -> None:
    with behind(tmp_path, "http", switches={"era": era}) as hand:
        replies = [call(door, "counted", key="first")]
        for number in range(restarts):
            hand.kill()
            hand.start()
            replies.append(call(door, "counted", key=str(number)))
        assert [one.status for one in replies] == [200] * (restarts + 1)
        # Met anew in silence, and each call done once.
        assert len(hand.executions("counted")) == restarts + 1
        assert row_of(replies[-1].body["request_id"]).status == "success"


def test_twenty_children_killed_in_a_row_lose_no_call_and_leave_none(
    door: RestDoor, tmp_path: Path
) -> None:
    with behind(tmp_path, "stdio") as hand:
        replies = [call(door, "counted", key="first")]
        for number in range(20):
            (pid,) = hand.alive()
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: pid not in hand.alive(), what="a child's end")  # type: ignore[misc]
            replies.append(call(door, "counted", key=str(number)))
        assert [one.status for one in replies] == [200] * 21
        assert len(hand.executions("counted")) == 21
        assert len(hand.alive()) == 1
        door.stop()
        assert hand.alive() == []


def test_a_server_that_hung_and_was_restarted_is_met_again_without_a_call(
    door: RestDoor, tmp_path: Path
) -> None:  # S2-011
    with behind(tmp_path, "http", connect_timeout=1) as hand:
        assert call(door, "echo").status == 200
        hand.freeze()
        assert call(door, "counted").code == "TIMEOUT"
        wait_for_state(door, "failed")
        hand.kill()
        hand.start()
        wait_for_state(door, "connected")
        assert call(door, "counted").status == 200
