"""What Prometheus is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

import pytest
from prometheus_client.parser import text_string_to_metric_families

from health.metrics import REGISTRY, exposition, observe_call
from tests.tools.backends.rows import finished, logged
from tools.backends import statistics
from tools.errors import CallStatus, ErrorCode
from tools.execution.runtime import Runtime, open_runtime
from tools.guards.breaker import Breakers
from tools.guards.redis import JOURNAL_STREAM, RedisLink


@dataclass
class Ended:
    """A call that has ended, as the path reports it."""

    tool: str = "alpha"
    source: str = "builtin"
    status: CallStatus | None = CallStatus.SUCCESS
    code: ErrorCode | None = None
    duration_ms: float = 2.0
    cache_hit: bool | None = None
    stages: Mapping[str, float] = field(default_factory=dict)


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_calls_are_counted_by_tool_status_and_code() -> None:
    before = value("controlplane_calls_total", tool="alpha", status="success", code="")
    failures = value("controlplane_calls_total", tool="alpha", status="timeout", code="TIMEOUT")
    observe_call(Ended())
    observe_call(Ended())
    observe_call(Ended(status=CallStatus.TIMEOUT, code=ErrorCode.TIMEOUT))
    assert value("controlplane_calls_total", tool="alpha", status="success", code="") == before + 2
    assert (
        value("controlplane_calls_total", tool="alpha", status="timeout", code="TIMEOUT")
        == failures + 1
    )


def test_names_that_are_no_tool_share_one_label() -> None:
    for number in range(50):
        observe_call(
            Ended(
                tool=f"made_up_{number}",
                source="",
                status=CallStatus.FAILURE,
                code=ErrorCode.TOOL_NOT_FOUND,
            )
        )
    tools = {
        sample.labels["tool"]
        for family in REGISTRY.collect()
        for sample in family.samples
        if "tool" in sample.labels
    }
    assert "unknown" in tools
    assert not any(name.startswith("made_up") for name in tools)


def test_durations_fall_into_buckets_of_seconds() -> None:
    def below(seconds: str) -> float:
        name = "controlplane_call_duration_seconds_bucket"
        return value(name, source="http_api", le=seconds)

    before = below("0.0025"), below("0.005")
    observe_call(Ended(source="http_api", duration_ms=3.0))
    assert (below("0.0025"), below("0.005")) == (before[0], before[1] + 1)


def test_cache_lookups_count_cached_tools_alone() -> None:
    def counts() -> tuple[float, float]:
        return (
            value("controlplane_cache_lookups_total", result="hit"),
            value("controlplane_cache_lookups_total", result="miss"),
        )

    hits, misses = counts()
    for hit in (True, False, False, None):
        observe_call(Ended(cache_hit=hit))
    assert counts() == (hits + 1, misses + 2)


def test_refusals_are_told_apart_by_stage() -> None:
    def counts() -> tuple[float, float]:
        return (
            value("controlplane_refusals_total", reason="rate"),
            value("controlplane_refusals_total", reason="slot"),
        )

    rate, slot = counts()
    refused = {"status": CallStatus.FAILURE, "code": ErrorCode.RATE_LIMITED}
    observe_call(Ended(**refused, stages={"validation": 0.1}))  # type: ignore[arg-type] # by name
    observe_call(Ended(**refused, stages={"validation": 0.1, "rate": 0.1}))  # type: ignore[arg-type] # by name
    assert counts() == (rate + 1, slot + 1)


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


async def test_recent_calls_come_from_the_log_of_all_processes(
    logged_calls: None, runtime: Runtime
) -> None:
    found = samples(await exposition(runtime))
    assert found[("controlplane_recent_calls", "success")] == 2
    assert found[("controlplane_recent_calls", "timeout")] == 1
    assert found[("controlplane_recent_calls", "failure")] == 0
    assert found[("controlplane_recent_p95_seconds",)] == pytest.approx(0.25)
    # S4-085: three good calls of validation, nothing cached, nothing shortened.
    assert found[("controlplane_success_criterion", "SC-003")] == 1
    assert ("controlplane_success_criterion", "SC-002") not in found
    assert ("controlplane_success_criterion", "SC-006") not in found


async def test_without_calls_there_is_no_percentile(runtime: Runtime) -> None:
    found = samples(await exposition(runtime))
    assert found[("controlplane_recent_calls", "success")] == 0
    assert ("controlplane_recent_p95_seconds",) not in found
