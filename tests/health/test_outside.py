"""Checks of what is asked over Redis and of what is outside: queues, the beat, disks, servers, APIs."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async

from health.checks import Beat, Disk, Queues
from health.checks.base import DependencyCheck
from health.checks.broker import BEAT_KEY
from health.checks.outside import Guarded, Listening, UpstreamServer, outside_checks
from health.measure import Checks
from tests.upstream_rows import make_upstream
from tools.backends import statistics
from tools.conf import Endpoint, deployment
from tools.execution.runtime import Runtime, open_runtime
from tools.upstreams import Upstream, UpstreamTransport
from tools.upstreams.states import STATE_KEY

LOOPBACK = ("127.0.0.0/8",)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def runtime(transactional_db: None, redis_url: str) -> AsyncIterator[Runtime]:
    statistics.forget()
    async with open_runtime() as opened:
        await opened.link.command("FLUSHALL")
        yield opened


@pytest.fixture
def port() -> Iterator[int]:
    """Somebody takes connections there, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


async def error(check: DependencyCheck) -> str | None:
    found = (await check.get_result()).error
    return None if found is None else str(found.message)


def listening(runtime: Runtime, url: str, allowed: tuple[str, ...] = LOOPBACK) -> Listening:
    return Listening(
        name="api:x", breaker="api:x", breakers=runtime.breakers, url=url, allowed_networks=allowed
    )


async def test_an_api_is_connected_when_somebody_takes_connections_there(
    runtime: Runtime, port: int
) -> None:
    # F4-15
    check = listening(runtime, f"http://127.0.0.1:{port}/v1")
    assert await error(check) is None
    for _ in range(5):
        await runtime.breakers.failure(await runtime.breakers.admit("api:x"))
    assert await error(check) == "Its circuit breaker is OPEN"


@pytest.mark.parametrize(
    ("url", "allowed", "expected"),
    [
        ("http://127.0.0.1:9/", LOOPBACK, "It cannot be reached"),
        ("https://nowhere.invalid/", (), "It cannot be reached"),
        ("http://127.0.0.1:9/", (), "It is at an address that is not allowed"),
        ("http://127.0.0.1:99999/", LOOPBACK, "It cannot be reached"),
        ("gopher://127.0.0.1/", LOOPBACK, "It cannot be reached"),
    ],
)
async def test_an_api_that_cannot_be_reached_is_unavailable(
    runtime: Runtime, url: str, allowed: tuple[str, ...], expected: str
) -> None:
    # F4-15
    assert await error(listening(runtime, url, allowed)) == expected


def server(runtime: Runtime, url: str) -> UpstreamServer:
    upstream = Upstream("x", UpstreamTransport.STREAMABLE_HTTP, url=url, allowed_networks=LOOPBACK)
    name = upstream.dependency
    return UpstreamServer(
        name=name, breaker=name, breakers=runtime.breakers, runtime=runtime, upstream=upstream
    )


async def report(runtime: Runtime, lifecycle: str, problem: str = "") -> None:
    """What a process tells of its connection to the server."""
    told = {
        "at": time.time(),
        "lifecycle": lifecycle,
        "connection_state": "",
        "initialization_time": 0.0,
        "last_health_check": None,
        "since": None,
        "protocol_version": "",
        "process_handle": None,
        "failures": 0,
        "error": problem,
        "discovered_tools": [],
    }
    await runtime.link.command("HSET", STATE_KEY.format(slug="x"), "web", json.dumps(told))


async def test_a_server_is_as_processes_tell_of_it(runtime: Runtime) -> None:
    # F2-09, F2-19
    check = server(runtime, "http://127.0.0.1:9/mcp")
    assert await error(check) == "It cannot be reached"
    await report(runtime, "connected")
    assert await error(check) is None
    await report(runtime, "failed", "connection refused by 127.0.0.1, password=x")
    assert await error(check) == "It cannot be reached"
    await report(runtime, "degraded", "No MCP tools available")
    assert await error(check) == "No MCP tools available"


async def test_a_server_that_nobody_has_met_is_looked_for(runtime: Runtime, port: int) -> None:
    assert await error(server(runtime, f"http://127.0.0.1:{port}/mcp")) is None
    unknown = Upstream("x", UpstreamTransport.STDIO, command="not-allowed")
    name = unknown.dependency
    check = UpstreamServer(
        name=name, breaker=name, breakers=runtime.breakers, runtime=runtime, upstream=unknown
    )
    assert await error(check) == "Its command is not allowed by UPSTREAM_COMMANDS"


async def test_every_server_of_the_catalogue_and_every_models_api_has_a_check(
    transactional_db: None, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = deployment()
    llm = replace(settings.rag, llm=Endpoint("http://127.0.0.1:9/v1"))
    monkeypatch.setattr("health.checks.outside.deployment", lambda: replace(settings, rag=llm))
    await sync_to_async(make_upstream)(slug="weather")
    async with open_runtime() as runtime:
        names = [check.name for check in outside_checks(runtime)]
    assert names == ["mcp:weather", "llm"]


async def test_what_is_known_by_its_breaker_alone_is_told_only_in_trouble(
    runtime: Runtime,
) -> None:
    check = Guarded(name="legacy", breaker="legacy", breakers=runtime.breakers)
    assert await error(check) is None
    assert not check.told_when_well


async def test_the_beat_is_silent_when_it_has_not_gone_round(
    runtime: Runtime, redis_url: str
) -> None:
    check = Beat(redis_url)
    assert await error(check) == "The beat does not run"
    await runtime.link.command("SET", BEAT_KEY, f"{time.time():.3f}")
    assert await error(check) is None
    await runtime.link.command("SET", BEAT_KEY, f"{time.time() - 60:.3f}")
    assert str(await error(check)).startswith("The beat has been silent for 6")


async def test_a_queue_that_nobody_gets_through_is_told_of(
    runtime: Runtime, redis_url: str
) -> None:
    check = Queues(redis_url, ("quick", "slow"), 2)
    await runtime.link.command("RPUSH", "slow", "1", "2")
    assert await error(check) is None
    assert check.details == {"slow": 2}
    await runtime.link.command("RPUSH", "slow", "3")
    assert await error(check) == "More than 2 messages wait in slow (3)"


async def test_a_full_disk_is_told_of_before_it_is_full(tmp_path: Path) -> None:
    roomy = Disk(tmp_path, 0)
    assert await error(roomy) is None
    assert roomy.details["free_mb"] > 0
    crowded = Disk(tmp_path, 1 << 40)
    assert str(await error(crowded)).startswith("Only ")
    assert await error(Disk(tmp_path / "gone", 0)) == "The folder of the service cannot be read"


async def test_checks_follow_the_runtime_they_are_asked_for(
    transactional_db: None, redis_url: str
) -> None:
    await sync_to_async(make_upstream)()
    checks = Checks([])
    for _ in range(2):
        async with open_runtime() as opened:
            (check,) = checks.of(opened)
            assert isinstance(check, UpstreamServer)
            assert check.runtime is opened
            # The catalogue is as it was: there is nothing new to check.
            assert checks.of(opened) == (check,)
