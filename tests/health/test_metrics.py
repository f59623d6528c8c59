"""What Prometheus is told."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from health.metrics import exposition
from tests.tools.backends.rows import finished, logged
from tools.backends import statistics
from tools.errors import ErrorCode
from tools.execution.runtime import Runtime, open_runtime
from tools.guards.breaker import Breakers
from tools.guards.redis import JOURNAL_STREAM, RedisLink


@pytest.fixture
async def runtime(transactional_db: None, redis_url: str) -> AsyncIterator[Runtime]:
    statistics.forget()
    async with open_runtime() as opened:
        yield opened


def samples(text: bytes) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


async def test_a_scrape_tells_what_the_process_and_redis_know(runtime: Runtime) -> None:
    runtime.in_flight, runtime.peak_in_flight = 3, 8
    for _ in range(5):
        permit = await runtime.breakers.admit("mcp_server")
        await runtime.breakers.failure(permit)
    await runtime.link.command("XADD", JOURNAL_STREAM, "*", "e", "{}")
    found = samples(await exposition(runtime))
    assert found[("controlplane_calls_in_flight",)] == 3
    assert found[("controlplane_calls_in_flight_peak",)] == 8
    assert found[("controlplane_redis_available",)] == 1
    assert found[("controlplane_journal_backlog",)] == 1
    assert found[("controlplane_breaker_state", "OPEN", "mcp_server")] == 1
    assert found[("controlplane_breaker_state", "CLOSED", "mcp_server")] == 0
    assert ("process_cpu_seconds_total",) in found


async def test_while_redis_is_away_a_scrape_leaves_out_what_only_redis_knows(
    runtime: Runtime, dead_link: RedisLink
) -> None:
    opened, known = runtime.link, runtime.breakers
    runtime.link, runtime.breakers = dead_link, Breakers(dead_link)
    try:
        found = samples(await exposition(runtime))
    finally:
        runtime.link, runtime.breakers = opened, known
    assert ("controlplane_calls_in_flight",) in found
    assert ("controlplane_journal_backlog",) not in found
    assert not any(name == "controlplane_breaker_state" for name, *_ in found)


@pytest.fixture
def logged_calls(transactional_db: None) -> None:
    logged(
        [
            finished("a", duration_ms=250.0),
            finished("a", duration_ms=250.0),
            finished("a", duration_ms=250.0, code=ErrorCode.TIMEOUT),
        ]
    )


async def test_recent_calls_are_those_of_all_processes(
    logged_calls: None, runtime: Runtime
) -> None:
    found = samples(await exposition(runtime))
    assert found[("controlplane_recent_calls", "success")] == 2
    assert found[("controlplane_recent_calls", "timeout")] == 1
    assert found[("controlplane_recent_calls", "failure")] == 0
    for name in ("p50", "p95", "p99"):
        assert found[(f"controlplane_recent_{name}_seconds",)] == pytest.approx(0.25)
    # S4-085: three good calls of validation, nothing cached, nothing shortened.
    assert found[("controlplane_success_criterion", "SC-003")] == 1
    assert ("controlplane_success_criterion", "SC-002") not in found
    assert ("controlplane_success_criterion", "SC-006") not in found


async def test_without_calls_there_is_no_percentile(runtime: Runtime) -> None:
    found = samples(await exposition(runtime))
    assert found[("controlplane_recent_calls", "success")] == 0
    assert ("controlplane_recent_p95_seconds",) not in found
