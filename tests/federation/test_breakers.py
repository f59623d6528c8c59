"""The breaker of a server: when it opens, what it keeps from the server, how it closes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.doors import RestDoor
from tests.federation.faulty import (
    Reply,
    at_once,
    behind,
    breaker_of,
    call,
    wait_for_state,
    web_process,
)
from tests.processes import wait_until
from tools.backends.upstream import retrying

FRIENDLY = "Unable to access todo database. Please try again later."


def fail(place: RestDoor | str, times: int) -> list[Reply]:
    """Calls that the server answers with what makes no sense."""
    return [call(place, "garbage") for _ in range(times)]


def test_five_failures_in_a_row_open_the_breaker_and_then_the_server_is_not_called(
    door: RestDoor, tmp_path: Path
) -> None:  # S2-051 S2-052 F2-05 F2-17
    with behind(tmp_path, "http", unavailable_message=FRIENDLY) as hand:
        assert call(door, "counted", key="well").status == 200
        # A success in between begins the count anew.
        fail(door, 4)
        assert breaker_of()["failures"] == "4"
        assert call(door, "echo").status == 200
        assert breaker_of()["failures"] == "0"
        replies = fail(door, 5)
        assert {one.code for one in replies} == {"EXECUTION_ERROR"}
        assert (breaker_of()["state"], breaker_of()["failures"]) == ("OPEN", "5")
        reached = len(hand.events("call"))
        for tool in ("counted", "echo"):
            refused = call(door, tool)
            assert (refused.status, refused.message) == (503, FRIENDLY)
            assert refused.suggestion == f"Try again in {refused.retry_after} s"
            assert 25 < int(refused.retry_after) <= 30
        assert len(hand.events("call")) == reached


def test_the_threshold_is_the_servers_own_and_breakers_do_not_know_each_other(
    door: RestDoor, tmp_path: Path
) -> None:  # F2-17 S2-060
    with (
        behind(tmp_path, "http", failure_threshold=2),
        behind(tmp_path, "stdio", "other", prefix="other_"),
    ):
        fail(door, 2)
        assert call(door, "counted").message == "trial is failing and is left alone for now"
        assert call(door, "other_counted").status == 200
        assert breaker_of("trial")["state"] == "OPEN"
        assert breaker_of("other")["state"] == "CLOSED"


def test_a_call_that_was_tried_four_times_counts_once(
    door: RestDoor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # F2-12 C21
    monkeypatch.setattr(retrying, "DELAYS", (0.01, 0.02, 0.04))
    with behind(tmp_path, "stdio") as hand:
        assert call(door, "image").status == 200
        hand.set(crash_calls=20)
        assert call(door, "echo").code == "SERVICE_UNAVAILABLE"
        assert len(hand.executions("echo")) == 4
        assert breaker_of()["failures"] == "1"


def test_after_the_recovery_time_a_probe_decides(door: RestDoor, tmp_path: Path) -> None:
    # S2-053 S2-055 S2-056 S2-057
    with behind(tmp_path, "http", failure_threshold=1, recovery_timeout=1):
        assert call(door, "echo").status == 200
        fail(door, 1)
        assert breaker_of()["state"] == "OPEN"
        opened_at = breaker_of()["changed"]
        wait_until(lambda: fail(door, 1)[0].code == "EXECUTION_ERROR", what="a probe")
        # HALF-OPEN -> OPEN: there is no way past it.
        assert breaker_of()["state"] == "OPEN"
        assert float(breaker_of()["changed"]) > float(opened_at)
        wait_until(lambda: call(door, "counted").status == 200, what="a good probe")
        assert (breaker_of()["state"], breaker_of()["failures"]) == ("CLOSED", "0")


def test_two_processes_share_the_breaker_and_let_a_single_probe_through(
    door: RestDoor, tmp_path: Path
) -> None:  # S2-054 S2-043
    with behind(tmp_path, "http", failure_threshold=3, recovery_timeout=2) as hand:
        assert call(door, "echo").status == 200
        with web_process(tmp_path / "log") as (other, _):
            assert call(other, "echo").status == 200
            # Failures in one process and the other add up, and both are refused.
            replies = fail(door, 2) + fail(other, 1)
            assert [one.code for one in replies] == ["EXECUTION_ERROR"] * 3, replies
            assert breaker_of()["state"] == "OPEN"
            assert call(door, "counted").code == "SERVICE_UNAVAILABLE"
            assert call(other, "counted").code == "SERVICE_UNAVAILABLE"
            before = len(hand.executions("sleep"))

            def half_open() -> bool:
                ask = [partial(call, place, "sleep", ms=700) for place in (door, other) * 4]
                replies = at_once(*ask)
                passed = [one for one in replies if one.status == 200]
                refused = [one for one in replies if one.code == "SERVICE_UNAVAILABLE"]
                assert len(passed) <= 1
                assert len(passed) + len(refused) == len(replies)
                return len(passed) == 1

            wait_until(half_open, what="a probe")
            assert len(hand.executions("sleep")) == before + 1
            assert breaker_of()["state"] == "CLOSED"
            assert call(door, "echo").status == call(other, "echo").status == 200


def test_five_failures_degrade_the_connection_and_a_good_call_mends_it(
    door: RestDoor, tmp_path: Path
) -> None:  # S2-010 S2-011
    with behind(tmp_path, "http", failure_threshold=50):
        assert call(door, "echo").status == 200
        wait_for_state(door, "connected")
        fail(door, 5)
        wait_for_state(door, "degraded")
        assert call(door, "echo").status == 200
        wait_for_state(door, "connected")
