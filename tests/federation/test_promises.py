"""How soon callers hear when a server is down or does not answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.doors import RestDoor
from tests.federation.faulty import (
    LOOPBACK,
    at_once,
    behind,
    breaker_of,
    call,
    registered,
    wait_for_state,
)
from tests.journal import row_of

FRIENDLY = "Unable to access todo database. Please try again later."


@pytest.mark.parametrize("tool", ["echo", "counted"])
def test_a_server_that_is_down_is_told_of_within_a_second_in_the_words_of_the_operator(  # C17
    door: RestDoor, tool: str
) -> None:  # F2-06 S1-024
    registered(
        "trial",
        url="http://127.0.0.1:9/mcp",
        allowed_networks=LOOPBACK,
        unavailable_message=FRIENDLY,
        failure_threshold=3,
    )
    door.start()
    replies = [call(door, tool) for _ in range(5)]
    assert [(one.status, one.code) for one in replies] == [(503, "SERVICE_UNAVAILABLE")] * 5
    assert {one.message for one in replies} == {FRIENDLY}
    assert max(one.seconds for one in replies) < 1
    # The first three found it out; the others were told by the breaker, and when to come back.
    assert breaker_of()["state"] == "OPEN"
    assert [one.retry_after for one in replies[:3]] == ["5", "5", "5"]
    assert [one.suggestion for one in replies[3:]] == ["Try again in 30 s"] * 2
    assert {one.retry_after for one in replies[3:]} == {"30"}


def test_a_server_that_goes_down_is_told_of_within_a_second_and_is_back_when_it_is_back(
    door: RestDoor, tmp_path: Path
) -> None:  # F2-06 S1-024 S1-048
    with behind(tmp_path, "http", unavailable_message=FRIENDLY) as hand:
        assert call(door, "echo", text="there").status == 200
        wait_for_state(door, "connected")
        hand.kill()
        wait_for_state(door, "failed")
        down = call(door, "echo", text="gone")
        assert (down.status, down.message) == (503, FRIENDLY)
        assert down.seconds < 1
        # The tool stays listed.
        assert "echo" in {tool["name"] for tool in door.get("/tools").json()["tools"]}
        hand.start()
        wait_for_state(door, "connected")
        assert call(door, "echo", text="back").status == 200


def test_who_does_not_answer_is_given_up_after_five_seconds_and_said_so_within_five_and_a_half(
    door: RestDoor, tmp_path: Path
) -> None:  # F2-15 C10 S1-030
    hangs = {"switches": {"hang": "call"}}
    with (
        behind(tmp_path, "http", "net", prefix="net_", **hangs) as net,
        behind(tmp_path, "stdio", "child", prefix="child_", **hangs),
        behind(tmp_path, "http", "deaf", prefix="deaf_", switches={"hang": "connect"}),
        behind(tmp_path, "http", "slow", prefix="slow_") as slow,
    ):
        slow.set(trickle_ms=50)
        door.start()
        several = ("net_echo", "net_counted", "child_counted", "slow_image", "deaf_echo")
        replies = at_once(*(partial(call, door, tool) for tool in several))
        assert max(one.seconds for one in replies) < 5.5
        assert [(one.status, one.code) for one in replies[:4]] == [(504, "TIMEOUT")] * 4
        assert replies[0].message == "net_echo did not finish within 5 s"
        # Whoever cannot even be connected to is away rather than late.
        assert (replies[4].status, replies[4].code) == (503, "SERVICE_UNAVAILABLE")
        assert row_of(replies[0].body["request_id"]).status == "timeout"
        # Each counts as a failure, and the server is asked to stop.
        assert [breaker_of(slug)["failures"] for slug in ("net", "child", "deaf")] == [
            "2",
            "1",
            "1",
        ]
        assert len(net.events("cancelled")) >= 2
