"""Trying again: only what is safe, only so often, only within the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from tests.mcp_upstream import Record
from tests.tools.backends.upstream.trial import CALLER, Trial, eventually, server, trial
from tools.backends.upstream import retrying
from tools.contracts import CallContext, Deadline
from tools.errors import TransportFault, UpstreamFailed
from tools.upstreams import ConnectionState, Upstream


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The delays between attempts, which are over at once."""
    delays: list[float] = []

    async def sleep(seconds: float) -> None:
        delays.append(seconds)

    monkeypatch.setattr(retrying, "sleep", sleep)
    return delays


@dataclass(frozen=True, slots=True)
class Elapsing(Deadline):
    """A deadline that the delays bring nearer, though nobody really waits."""

    waited: list[float] = field(default_factory=list)

    @override
    def remaining(self) -> float:
        return max(0.0, self.seconds - sum(self.waited))


@pytest.fixture
def child(tmp_path: Path) -> Iterator[tuple[Upstream, Record]]:
    """A stdio server: each crash is a broken connection, and it is there again when it is met."""
    with server(tmp_path / "trial", "stdio") as made:
        yield made


async def attempts(calls: Trial, hand: Record, tool: str, **about: Any) -> int:
    """How often a call of a tool that always crashes its server reached it."""
    await calls.call("image")
    hand.set(crash_calls=20)
    with pytest.raises(TransportFault):
        await calls.call_with(about, tool, seconds=30)
    hand.set(crash_calls=0)
    return len(hand.executions(tool))


async def test_a_read_only_tool_is_tried_once_and_then_three_times_after_1_2_and_4_seconds(
    child: tuple[Upstream, Record], waited: list[float]
) -> None:  # F2-12 C21
    async with trial(child[0]) as calls:
        assert await attempts(calls, child[1], "echo") == 4
    assert waited == [1, 2, 4]


async def test_a_tool_that_says_it_may_be_repeated_is_retried_though_it_changes_things(
    child: tuple[Upstream, Record], waited: list[float]
) -> None:  # C21
    async with trial(child[0]) as calls:
        await calls.call("image")
        child[1].set(crash_calls=20)
        idempotent = replace(calls.spec("counted"), idempotent=True)
        with pytest.raises(TransportFault):
            await calls.backend.call(idempotent, {}, CallContext(CALLER, Deadline.after(30)))
        assert len(child[1].executions("counted")) == 4
    assert waited == [1, 2, 4]


async def test_a_retry_that_goes_well_is_the_answer(
    child: tuple[Upstream, Record], waited: list[float]
) -> None:  # F2-12
    async with trial(child[0]) as calls:
        await calls.call("image")
        child[1].set(crash_calls=2)
        assert (await calls.call("echo", text="there"))["content"][0]["text"] == "there"
    assert waited == [1, 2]


async def test_a_tool_that_is_not_safe_to_repeat_runs_once_and_its_outcome_is_said_to_be_unknown(
    child: tuple[Upstream, Record], waited: list[float]
) -> None:  # C21
    async with trial(child[0]) as calls:
        await calls.call("image")
        child[1].set(crash_calls=1)
        with pytest.raises(TransportFault) as failure:
            await calls.call("counted", key="once")
        assert "whether it did its work is not known" in str(failure.value.details.suggestion)
        assert len(child[1].executions("counted")) == 1
        assert (await calls.call("counted", key="twice"))["content"][0]["text"] == "ran for twice"
    assert waited == []


async def test_no_retry_begins_that_could_not_end_in_time(
    child: tuple[Upstream, Record], waited: list[float]
) -> None:  # F2-12 F2-15
    async with trial(child[0]) as calls:
        await calls.call("image")
        child[1].set(crash_calls=20)
        deadline = Elapsing(Deadline.after(5).at, 5, waited)
        with pytest.raises(TransportFault):
            await calls.backend.call(calls.spec("echo"), {}, CallContext(CALLER, deadline))
    # After 1 and 2 seconds there are less than 4 left.
    assert waited == [1, 2]


async def test_retries_are_as_many_as_the_server_is_given(
    tmp_path: Path, waited: list[float]
) -> None:
    with server(tmp_path / "trial", "stdio") as (upstream, hand):
        fewer = Upstream("trial", upstream.transport, command="trial", retries=1)
        async with trial(fewer) as calls:
            assert await attempts(calls, hand, "echo") == 2
    assert waited == [1]


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_an_answer_that_makes_no_sense_is_not_asked_for_again(
    tmp_path: Path, transport: str, waited: list[float]
) -> None:  # C21 F2-20
    with server(tmp_path / "trial", transport) as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("echo")
            hand.set(garbage=True)
            with pytest.raises(UpstreamFailed, match="cannot be understood"):
                await calls.call("echo")
            hand.set(garbage=False)
    assert waited == []


async def test_a_server_that_was_never_there_is_not_waited_for(
    tmp_path: Path, waited: list[float]
) -> None:  # F2-06
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with trial(upstream) as calls:
            hand.kill()
            for _ in range(3):
                with pytest.raises(TransportFault):
                    await calls.call("echo")
            assert calls.connection.state is ConnectionState.FAILED
    assert waited == []


async def test_a_server_that_has_just_gone_is_told_of_at_once(
    tmp_path: Path, waited: list[float]
) -> None:  # F2-06
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("echo")
            # Its connections are seen to end meanwhile.
            await asyncio.to_thread(hand.kill)
            with pytest.raises(TransportFault) as failure:
                await calls.call("echo")
    assert failure.value.details.suggestion == "Try again in 5 s"
    assert waited == []


async def test_a_server_that_goes_away_during_a_call_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # F2-12
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("image")
            hand.set(crash_calls=1)
            delays: list[float] = []

            async def sleep(seconds: float) -> None:
                delays.append(seconds)
                if len(delays) == 2:
                    await asyncio.to_thread(hand.start)

            monkeypatch.setattr(retrying, "sleep", sleep)
            assert (await calls.call("echo", text="back"))["content"][0]["text"] == "back"
    # After the first it was still away.
    assert delays == [1, 2]


async def test_a_server_that_does_not_let_us_in_any_more_is_not_waited_for(
    tmp_path: Path, waited: list[float]
) -> None:
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with trial(upstream) as calls:
            session = await calls.connection.session(5)
            hand.set(refuse=403)
            calls.connection.lose(session, "it was given up")
            with pytest.raises(TransportFault):
                await calls.call("echo")
            hand.set(refuse=0)
    assert waited == []


async def test_a_server_that_forgot_the_session_is_met_again_and_runs_the_call_once(
    tmp_path: Path, waited: list[float]
) -> None:
    with server(tmp_path / "trial", "http", era="handshake") as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("counted", key="before")
            hand.set(forget=1)
            several = [calls.call("counted", key=f"after {number}") for number in range(5)]
            answers = await asyncio.gather(*several)
            assert [one["content"][0]["text"] for one in answers] == [
                f"ran for after {number}" for number in range(5)
            ]
            assert len(hand.executions("counted")) == 6
            await eventually(lambda: calls.connection.failures == 0)
    assert waited == []
