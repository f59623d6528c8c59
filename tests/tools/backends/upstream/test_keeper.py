"""Who looks after a connection: sees every failure, lets nobody go who is in use, and can be ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.backends.upstream.trial import Trial, connection_to, eventually, server, trial
from tools.backends.upstream import keeper as module
from tools.backends.upstream.connection import Connection
from tools.backends.upstream.keeper import Keeper
from tools.backends.upstream.session import Session
from tools.upstreams import ConnectionState


async def ignore(connection: Connection) -> None:
    """Nobody is told of the connection."""


async def test_a_server_that_hangs_is_found_out_after_a_call_that_was_late(tmp_path: Path) -> None:
    with server(tmp_path / "trial", "http") as (upstream, hand):
        brief = replace(upstream, connect_timeout=0.5)
        async with trial(brief) as calls:
            # A late call, a good one, and a late one again: the last is not to be overlooked.
            await late(calls)
            await calls.call("echo")
            hand.set(hang="all")
            await late(calls)
            await eventually(lambda: calls.connection.state is ConnectionState.FAILED)
            hand.set(hang="")
            await eventually(lambda: calls.connection.state is ConnectionState.CONNECTED)


async def late(calls: Trial) -> None:
    with pytest.raises(TimeoutError):
        await calls.call("sleep", ms=60_000, seconds=0.3)


async def test_every_failure_is_followed_by_a_look_also_when_a_success_came_between(
    tmp_path: Path,
) -> None:
    with server(tmp_path / "trial", "http") as (upstream, _):
        async with connection_to(upstream) as connection:
            session = await connection.session(5)
            keeper = Keeper(connection, ignore)
            for _ in range(3):
                connection.failed("a call was late")
                seen = connection.last_health_check
                await keeper._check(session)
                assert connection.last_health_check != seen
                connection.succeeded()


async def test_nobody_is_let_go_in_the_middle_of_a_call(tmp_path: Path) -> None:
    with server(tmp_path / "trial", "stdio") as (upstream, hand):
        restless = replace(upstream, idle_seconds=1)
        async with trial(restless) as calls:
            answer = await calls.call("sleep", ms=2500)
            assert answer["content"][0]["text"] == "slept 2500 ms"
            (_, pid) = hand.pids()  # the first was that of the probe
            assert calls.connection.report().process_handle == pid
            await eventually(lambda: not hand.alive())
            assert calls.connection.state is ConnectionState.DISCONNECTED
            assert (await calls.call("echo", text="back"))["content"][0]["text"] == "back"
            assert len(hand.alive()) == 1
        assert hand.alive() == []


async def test_a_keeper_can_be_ended_while_it_connects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(tmp_path / "trial", "http", hang="connect") as (upstream, _):
        async with connection_to(upstream) as connection:
            connects = asyncio.Event()
            begin = connection.begin

            def begun() -> asyncio.Task[Session]:
                connects.set()
                return begin()

            monkeypatch.setattr(connection, "begin", begun)
            keeping = asyncio.create_task(Keeper(connection, ignore).run())
            connection.attention.set()
            await connects.wait()
            await asyncio.sleep(0)
            keeping.cancel()
            await asyncio.wait([keeping], timeout=5)
            assert keeping.cancelled()


async def test_a_server_that_stays_away_is_looked_at_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECK_EVERY", -60.0)
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with connection_to(upstream) as connection:
            keeper = Keeper(connection, ignore)
            connection.lose(await connection.session(5), "it has gone")
            hand.kill()
            await keeper._look()
            assert connection.state is ConnectionState.FAILED
            assert keeper._pause() > 0.2


async def test_a_server_that_was_let_go_is_not_looked_at_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECK_EVERY", -60.0)
    with server(tmp_path / "trial", "http") as (upstream, _):
        async with connection_to(upstream) as connection:
            keeper = Keeper(connection, ignore)
            await connection.session(5)
            await connection.disconnect()
            await keeper._look()
            assert connection.state is ConnectionState.DISCONNECTED
            assert keeper._pause() > 5
