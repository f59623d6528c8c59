"""How MCP servers fare, as real connections tell it and operators read it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from tests.tools.backends.upstream.trial import Trial, server, trial
from tests.upstream_rows import make_upstream
from tools.backends.ports import ports
from tools.guards.breaker import Breakers, CircuitBreakerConfig
from tools.guards.redis import RedisLink
from tools.models import UpstreamServer
from tools.services.upstream_status import ServerStatus, upstream_status
from tools.upstreams import ConnectionState

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def told(link: RedisLink, monkeypatch: pytest.MonkeyPatch) -> RedisLink:
    """Connections tell their state over this link."""
    monkeypatch.setattr(ports, "link", link)
    return link


async def status_of(row: UpstreamServer) -> ServerStatus:
    found: dict[int, ServerStatus] = await sync_to_async(upstream_status)([row])
    return found[row.pk]


async def told_by(row: UpstreamServer, wanted: Any) -> ServerStatus:
    """The first status that is as wanted."""
    async with asyncio.timeout(20):
        while not wanted(latest := await status_of(row)):
            await asyncio.sleep(0.05)
    return latest


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_process_tells_how_its_connection_is(
    told: RedisLink, tmp_path: Path, transport: str
) -> None:
    # S2-005, S2-006, S2-007, S2-008, C05, T12
    with server(tmp_path, transport) as (upstream, _):
        row = await sync_to_async(make_upstream)(slug=upstream.slug)
        assert (await status_of(row)).state is ConnectionState.NOT_CONFIGURED
        async with trial(upstream) as made:
            await made.call("echo", text="hello")
            status = await told_by(row, lambda found: found.reports)
            (report,) = status.reports
            assert status.state is report.lifecycle is ConnectionState.CONNECTED
            assert report.connection_state == "connected"
            assert report.initialization_time > 0
            assert report.last_health_check is not None
            assert report.tools == len(made.tools)
            assert report.protocol_version >= "2025-11-25"
            assert (report.process_handle is not None) == (transport == "stdio")
        # Whoever hung up says so by saying nothing more.
        await told_by(row, lambda found: not found.reports)


async def test_open_breaker_makes_a_working_connection_degraded(
    told: RedisLink, tmp_path: Path
) -> None:
    # S2-058
    with server(tmp_path, "http") as (upstream, _):
        row = await sync_to_async(make_upstream)(slug=upstream.slug, failure_threshold=1)
        async with trial(upstream) as made:
            await made.call("echo", text="hello")
            await told_by(row, lambda found: found.reports)
            breakers = Breakers(told, {upstream.dependency: CircuitBreakerConfig(1, 30.0)})
            await breakers.failure(await breakers.admit(upstream.dependency))
            status = await status_of(row)
            assert (status.breaker.state, status.state) == ("OPEN", ConnectionState.DEGRADED)
            await breakers.reset(upstream.dependency)
            assert (await status_of(row)).state is ConnectionState.CONNECTED


async def test_server_without_tools_is_told_as_degraded(told: RedisLink, tmp_path: Path) -> None:
    with server(tmp_path, "http", no_tools=True) as (upstream, _):
        row = await sync_to_async(make_upstream)(slug=upstream.slug)
        made = Trial(upstream, {})
        try:
            await made.connection.session(10)
            status = await told_by(row, lambda found: found.reports)
            assert status.state is ConnectionState.DEGRADED
            assert status.reports[0].error == "No MCP tools available"
        finally:
            await made.backend.manager().close()
