"""The one connection to a server: its states, and what happens while it is replaced."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mcp_upstream import Record
from tests.tools.backends.upstream.trial import connection_to, eventually, server, trial
from tools.backends.upstream import connection as module
from tools.backends.upstream.connection import Connection, Down
from tools.backends.upstream.discovery import Items, list_tools
from tools.backends.upstream.session import Session
from tools.errors import ReportedByTool, UpstreamFailed
from tools.upstreams import NO_TOOLS, ConnectionState, Discovered, Upstream, next_state
from tools.upstreams.states import ORCHESTRATOR

S = ConnectionState


def state_of(connection: Connection) -> ConnectionState:
    """The state now; it changes between any two lines."""
    return connection.state


@pytest.fixture(params=["http", "stdio"])
def upstream(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Upstream, Record]]:
    with server(tmp_path / "trial", request.param) as made:
        yield made


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[ConnectionState]:
    """Every state that connections come to, in order."""
    trace: list[ConnectionState] = []
    judge = next_state

    def noted(current: ConnectionState, following: ConnectionState) -> ConnectionState:
        trace.append(judge(current, following))
        return following

    monkeypatch.setattr(module, "next_state", noted)
    return trace


async def test_a_connection_degrades_after_five_failures_and_recovers_with_a_success(
    upstream: tuple[Upstream, Record], states: list[ConnectionState]
) -> None:
    async with trial(upstream[0]) as calls:
        assert state_of(calls.connection) is S.NOT_CONFIGURED
        await calls.call("echo")
        assert states == [S.CONNECTING, S.CONNECTED]  # S2-009
        for _ in range(5):
            assert state_of(calls.connection) is not S.DEGRADED
            with pytest.raises(UpstreamFailed):
                await calls.call("garbage")
        # Over stdio garbage ends the child, and the next is met anew.
        await eventually(lambda: calls.connection.state is S.DEGRADED)  # S2-010
        assert ORCHESTRATOR[calls.connection.state] == "degraded"
        await calls.call("echo")
        assert state_of(calls.connection) is S.CONNECTED  # S2-011
        connection = calls.connection
    assert state_of(connection) is S.DISCONNECTED  # S2-012
    assert states[-2:] == [S.SHUTTING_DOWN, S.DISCONNECTED]


async def test_what_is_no_result_is_a_failure_and_what_a_tool_reports_is_not(
    upstream: tuple[Upstream, Record],
) -> None:  # F2-20
    async with trial(upstream[0]) as calls:
        for _ in range(3):
            with pytest.raises(UpstreamFailed):
                await calls.call("malformed")
        assert calls.connection.failures == 3
        with pytest.raises(ReportedByTool):
            await calls.call("fail")
        assert calls.connection.failures == 0


async def test_what_an_older_session_found_is_not_recorded_after_a_newer_one(
    tmp_path: Path,
) -> None:
    recorded: list[str] = []

    async def record(_: Upstream, found: Discovered) -> None:
        recorded.append(found.tools[0]["description"])

    with server(tmp_path / "trial", "http", delay_ms=100) as (upstream, hand):
        connection = Connection(upstream, record)
        try:
            older = await connection.session(5)
            hand.set(descriptions={"echo": "It says something else now."})
            connection.lose(older, "it was given up")
            await connection.session(5)
            await eventually(lambda: recorded)
        finally:
            await connection.close()
    assert recorded == ["It says something else now."]


async def test_a_degraded_connection_ends_as_a_connected_one_does(
    tmp_path: Path, states: list[ConnectionState]
) -> None:
    with server(tmp_path / "trial", "http", no_tools=True) as (upstream, _):
        async with connection_to(upstream) as connection:
            await connection.session(5)
    # S2-012
    assert states == [S.CONNECTING, S.DEGRADED, S.SHUTTING_DOWN, S.DISCONNECTED]


async def test_a_server_without_tools_is_degraded_with_a_critical_warning_until_it_has_some(
    upstream: tuple[Upstream, Record], caplog: pytest.LogCaptureFixture
) -> None:  # F2-19 C18
    upstream[1].set(no_tools=True)
    async with trial(upstream[0]) as calls:
        with caplog.at_level(logging.CRITICAL):
            await calls.connection.session(5)
        assert calls.connection.report().to_wire()["connection_state"] == "degraded"
        assert calls.connection.error == NO_TOOLS == "No MCP tools available"
        assert [record.getMessage() for record in caplog.records] == [f"trial: {NO_TOOLS}"]
        upstream[1].set(no_tools=False)
        calls.connection.list_changed()
        await eventually(lambda: calls.connection.state is S.CONNECTED)
        assert calls.connection.error == ""


async def test_a_call_that_ends_well_while_its_session_is_replaced_is_answered(
    tmp_path: Path,
) -> None:
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("echo")
            running = asyncio.create_task(calls.call("sleep", ms=1500))
            await eventually(lambda: hand.executions("sleep"))
            hand.set(refuse=503)
            session = calls.connection.live
            assert session is not None
            calls.connection.failed("a broken line")
            calls.connection.lose(session, "a broken line")
            await eventually(lambda: calls.connection.state is S.FAILED)
            assert (await running)["content"][0]["text"] == "slept 1500 ms"
            assert state_of(calls.connection) is S.FAILED


async def test_a_change_that_is_told_while_the_list_is_read_is_looked_up_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(tmp_path / "trial", "http") as (upstream, hand):
        async with trial(upstream) as calls:
            await calls.call("echo")
            await asyncio.sleep(0)
            listing = list_tools
            late = {"echo": "It says something else now."}

            async def changed_meanwhile(session: Session) -> Items:
                tools = await listing(session)
                if not hand.switches().descriptions:
                    hand.set(descriptions=late)
                    calls.connection.list_changed()
                return tools

            monkeypatch.setattr(module, "list_tools", changed_meanwhile)
            before = calls.connection.tools["echo"]
            calls.connection.list_changed()
            await eventually(lambda: calls.connection.tools["echo"] != before)


async def test_a_list_that_could_not_be_read_again_stays_to_be_read(tmp_path: Path) -> None:
    with server(tmp_path / "trial", "http") as (upstream, hand):
        brief = replace(upstream, connect_timeout=0.2)
        async with trial(brief) as calls:
            await calls.call("echo")
            hand.set(hang="list")
            calls.connection.list_changed()
            await eventually(lambda: "could not be listed again" in calls.connection.error)
            hand.set(hang="", descriptions={"echo": "It says something else now."})
            before = calls.connection.tools["echo"]
            # The next sign of life is asked for after the failure, and brings it up.
            await eventually(lambda: calls.connection.tools["echo"] != before)


async def test_a_connection_that_was_closed_for_good_starts_nothing_any_more(
    upstream: tuple[Upstream, Record],
) -> None:
    async with connection_to(upstream[0]) as connection:
        await connection.session(5)
        started = len(upstream[1].pids())
    with pytest.raises(Down, match="changed or removed"):
        await connection.session(5)
    assert len(upstream[1].pids()) == started


async def test_closing_waits_for_the_children_of_sessions_that_were_given_up(
    tmp_path: Path,
) -> None:
    with server(tmp_path / "trial", "stdio") as (upstream, hand):
        async with connection_to(upstream) as connection:
            for _ in range(3):
                connection.lose(await connection.session(5), "it was given up")
        assert len(hand.pids()) == 3
        assert hand.alive() == []


async def test_a_call_that_comes_while_an_idle_server_is_let_go_is_served(tmp_path: Path) -> None:
    with server(tmp_path / "trial", "stdio") as (upstream, hand):
        async with connection_to(upstream) as connection:
            await connection.session(5)
            leaving = asyncio.create_task(connection.disconnect())
            await asyncio.sleep(0)
            assert state_of(connection) is S.DISCONNECTED
            session = await connection.session(5)
            await leaving
            assert state_of(connection) is S.CONNECTED
            await session.check()
        assert hand.alive() == []
