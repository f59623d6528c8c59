"""Servers that die, hang, or talk nonsense, seen from the doors of the whole control plane."""

from __future__ import annotations

import resource
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from tests.doors import RestDoor
from tests.federation.faulty import (
    LOOPBACK,
    TRANSPORTS,
    Reply,
    at_once,
    behind,
    call,
    registered,
    wait_for_state,
)
from tests.journal import row_of, rows
from tests.processes import wait_until

every_transport = pytest.mark.parametrize("transport", TRANSPORTS)


@every_transport
def test_a_server_killed_in_the_middle_of_a_call_that_is_not_safe_to_repeat(
    door: RestDoor, tmp_path: Path, transport: str
) -> None:  # S1-024 S1-048 C21
    with behind(tmp_path, transport) as hand:
        assert call(door, "image").status == 200
        hand.set(crash_calls=1)
        reply = call(door, "counted", key="once")
        assert (reply.status, reply.code) == (503, "SERVICE_UNAVAILABLE")
        assert "whether it did its work is not known" in reply.suggestion
        if transport == "http":
            hand.start()
        wait_until(lambda: call(door, "echo").status == 200, what="the server's return")
        assert len(hand.executions("counted")) == 1
        assert row_of(reply.body["request_id"]).status == "failure"


@every_transport
def test_nonsense_is_told_in_general_words_and_the_server_stays_in_use(
    door: RestDoor, tmp_path: Path, transport: str
) -> None:  # F2-20
    with behind(tmp_path, transport) as hand:
        for tool in ("garbage", "malformed"):
            reply = call(door, tool)
            assert (reply.status, reply.code) == (500, "EXECUTION_ERROR")
            assert reply.message == "trial gave an answer that cannot be understood"
            assert call(door, "echo").status == 200
        assert len(hand.executions("garbage")) == 1


@every_transport
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_beyond_all_bounds_is_refused_without_being_kept(
    door: RestDoor, tmp_path: Path, transport: str, stream: bool
) -> None:
    with behind(tmp_path, transport, switches={"stream": stream}):
        assert call(door, "huge", kilobytes=1).status == 200
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        reply = call(door, "huge", kilobytes=60_000)
        assert (reply.code, reply.message) == (
            "EXECUTION_ERROR",
            "trial gave an answer that is too large",
        )
        assert reply.suggestion == "Ask for less at once"
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        # At most what may be read of one answer, once in parts and once whole.
        assert grown < 50_000
        assert call(door, "echo").status == 200


def test_a_server_that_hangs_delays_neither_lists_nor_calls_of_others(
    door: RestDoor, tmp_path: Path
) -> None:  # F2-18
    with (
        behind(tmp_path, "http", "hanging", prefix="hanging_") as hanging,
        behind(tmp_path, "stdio", "well", prefix="well_") as well,
    ):
        assert call(door, "hanging_echo").status == 200
        hanging.set(hang="all")
        answered: list[Reply] = []
        waiting = Thread(target=lambda: answered.append(call(door, "hanging_counted")))
        waiting.start()
        assert len(door.get("/tools").json()["tools"]) >= 2
        for _ in range(20):
            assert call(door, "well_echo").status == 200
        assert answered == []
        # Calls of one server do not wait for each other either.
        slow = Thread(target=lambda: answered.append(call(door, "well_sleep", ms=3000)))
        slow.start()
        wait_until(lambda: bool(well.executions("sleep")), what="a call under way")
        assert call(door, "well_echo").status == 200
        assert [event for event in well.events("done") if event["tool"] == "sleep"] == []
        hanging.kill()
        slow.join(20)
        waiting.join(20)
        assert sorted(one.status for one in answered) == [200, 503]


def test_where_nobody_may_be_called_or_nobody_is_operators_learn_why(
    door: RestDoor, caplog: pytest.LogCaptureFixture
) -> None:
    registered("inside", url="http://127.0.0.1:9/mcp", prefix="inside_")
    registered("nowhere", url="http://upstream.invalid/mcp", prefix="nowhere_")
    registered("closed", url="http://127.0.0.1:9/mcp", prefix="closed_", allowed_networks=LOOPBACK)
    door.start()
    slugs = ("inside", "nowhere", "closed")
    replies = at_once(*(partial(call, door, f"{slug}_echo") for slug in slugs))
    for slug, reply in zip(slugs, replies, strict=True):
        assert (reply.status, reply.message) == (503, f"{slug} cannot be reached")
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    for words in (
        "inside cannot be reached: http://127.0.0.1:9 may not be called: "
        "its address is in no network that it is allowed",
        "nowhere cannot be reached: http://upstream.invalid cannot be reached: ",
        "closed cannot be reached: http://127.0.0.1:9 cannot be reached: connection refused",
    ):
        assert any(one.startswith(words) for one in said), said


@every_transport
def test_a_server_without_tools_is_told_of_as_degraded(
    door: RestDoor, tmp_path: Path, transport: str
) -> None:  # F2-19 C18
    switches = {"no_tools": True}
    with behind(tmp_path, transport, switches=switches, connect_at_start=True) as hand:
        door.start()
        wait_for_state(door, "degraded")
        wait_until(lambda: health_of(door) == "No MCP tools available", what="its health")
        # The tools it had are no longer offered by it, which is said to who calls them.
        wait_until(lambda: call(door, "echo").status in {404, 503}, what="a tool that is gone")
        assert hand.executions("echo") == []


def health_of(door: RestDoor) -> str | None:
    """What is said of the server in the health of the service, if anything is."""
    found: dict[str, str] | None = door.get("/health").json()["dependencies"].get("mcp:trial")
    return None if found is None else found.get("error")


def test_health_tells_of_a_server_that_is_down_and_of_its_return(
    door: RestDoor, tmp_path: Path
) -> None:  # F2-09 S2-058
    with behind(tmp_path, "http") as hand:
        assert call(door, "echo").status == 200
        assert health_of(door) is None
        hand.kill()
        wait_until(lambda: health_of(door) == "It cannot be reached", what="its health")
        assert door.get("/health").json()["status"] == "degraded"
        hand.start()
        wait_until(lambda: health_of(door) is None, what="its recovery")


def test_every_call_has_its_row_whatever_became_of_it(door: RestDoor, tmp_path: Path) -> None:
    with behind(tmp_path, "http", failure_threshold=1000) as hand:
        assert call(door, "image").status == 200
        replies = []
        for switches in ({"garbage": True}, {"refuse": 503}, {"forget": 7}, {"crash_calls": 1}):
            hand.set(**switches)
            replies += at_once(*(partial(call, door, "counted", key=str(n)) for n in range(5)))
            hand.set(garbage=False, refuse=0, crash_calls=0)
        assert len(replies) == 20
        hand.start()
        for reply in replies:
            row = row_of(reply.body["request_id"])
            assert row.status == ("success" if reply.status == 200 else "failure")
        assert len(rows()) == 21
