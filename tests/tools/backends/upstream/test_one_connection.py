"""One connection per server and process, as long as the server is configured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tools.backends.upstream.trial import eventually, server
from tools.backends.upstream.connection import Connection
from tools.backends.upstream.manager import Manager
from tools.upstreams import ConnectionState, Upstream

S = ConnectionState


@pytest.fixture(params=["http", "stdio"])
def upstream(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Upstream, Any]]:
    with server(tmp_path / "trial", request.param) as made:
        yield made


@pytest.fixture
async def manager() -> AsyncIterator[Manager]:
    made = Manager()
    yield made
    await made.close()


def state(connection: Connection) -> ConnectionState:
    return connection.state


async def test_everybody_who_calls_shares_one_connection(
    upstream: tuple[Upstream, Any], manager: Manager
) -> None:
    # S2-009, S2-013
    configured, hand = upstream
    connection = manager.connection(configured)
    assert connection.report().connection_state is S.NOT_CONFIGURED
    sessions = await asyncio.gather(
        *(manager.connection(replace(configured)).session(15) for _ in range(20))
    )
    assert len(set(map(id, sessions))) == 1
    assert manager.connections() == (connection,)
    assert len(hand.pids()) == 1
    assert state(connection) is S.CONNECTED


async def test_a_report_tells_how_the_connection_fares(
    upstream: tuple[Upstream, Any], manager: Manager
) -> None:
    # S2-003, S2-004, S2-006, S2-007, S2-008, T12
    configured, hand = upstream
    connection = manager.connection(configured)
    await connection.session(15)
    report = connection.report()
    assert (report.server_name, report.connection_state) == ("trial", S.CONNECTED)
    assert report.initialization_time > 0
    assert report.last_health_check is not None
    assert "echo" in report.discovered_tools
    is_child = configured.transport == "stdio"
    assert (report.process_handle in hand.pids()) is is_child


async def test_changed_settings_replace_the_connection(
    upstream: tuple[Upstream, Any], manager: Manager
) -> None:
    # S2-012, S2-013
    configured, _ = upstream
    before = manager.connection(configured)
    await before.session(15)
    changed = replace(configured, call_timeout=9)
    manager.follow({"trial": changed})
    after = manager.connection(changed)
    assert after is not before
    assert manager.connections() == (after,)
    await eventually(lambda: state(before) is S.DISCONNECTED)
    await after.session(15)
    assert state(after) is S.CONNECTED


async def test_equal_settings_keep_the_connection(
    upstream: tuple[Upstream, Any], manager: Manager
) -> None:
    configured, hand = upstream
    connection = manager.connection(configured)
    session = await connection.session(15)
    manager.follow({"trial": replace(configured)})
    assert await manager.connection(replace(configured)).session(15) is session
    assert len(hand.pids()) == 1


async def test_a_removed_server_is_hung_up_on_and_its_process_is_gone(
    upstream: tuple[Upstream, Any], manager: Manager
) -> None:
    # S2-012, S2-016
    configured, hand = upstream
    connection = manager.connection(configured)
    await connection.session(15)
    manager.follow({})
    assert manager.connections() == ()
    await eventually(lambda: state(connection) is S.DISCONNECTED)
    if configured.transport == "stdio":
        assert hand.alive() == []


async def test_servers_are_met_from_the_start_only_if_they_are_to_be(
    upstream: tuple[Upstream, Any], manager: Manager
) -> None:
    configured, hand = upstream
    manager.follow({"trial": configured})
    assert manager.connections() == ()
    eager = replace(configured, connect_at_start=True)
    manager.follow({"trial": eager})
    await eventually(lambda: state(manager.connection(eager)) is S.CONNECTED)
    assert len(hand.pids()) == 1
