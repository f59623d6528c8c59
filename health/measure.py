"""All checks at once, and what their findings mean together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any, Final

from health.checks import (
    Beat,
    Database,
    DependencyCheck,
    Disk,
    Overrun,
    Queues,
    Redis,
    Worker,
)
from health.checks.outside import outside_checks
from health.conf import QUEUES, health_settings
from health.connections import pool_usage
from health.findings import Dependency, HealthReport, PipelineHealth
from health.objectives import current_attainments
from health.pipelines import pipelines_health
from health.status import DependencyStatus, HealthStatus, overall
from tools.backends.statistics import recent_calls
from tools.conf import deployment
from tools.contracts import ToolSource
from tools.errors import TransportFault
from tools.execution.runtime import Runtime
from tools.techniques import queue_of

SLOW_DATABASE_MS: Final = 100
# Beside a test query: asking Redis for the last one, reading the request log.
MARGIN_SECONDS: Final = 1.0


class Checks:
    """The checks of a process. Those of the catalogue's servers and APIs follow the catalogue."""

    def __init__(self, own: Sequence[DependencyCheck]) -> None:
        self._own = tuple(own)
        self._outside: tuple[DependencyCheck, ...] = ()
        # What the latter were made for.
        self._runtime: Runtime | None = None
        self._version = -1

    def of(self, runtime: Runtime | None) -> tuple[DependencyCheck, ...]:
        """All of them; without a runtime only what is the same for every catalogue."""
        if runtime is None:
            return self._own
        catalogue = runtime.directory.catalogue
        if runtime is not self._runtime or catalogue.version != self._version:
            self._outside = tuple(outside_checks(runtime))
            self._runtime, self._version = runtime, catalogue.version
        for check in self._own:
            if isinstance(check, Queues):
                check.queues = (*QUEUES, *_pipeline_queues(runtime))
        return (*self._own, *self._outside)


@cache
def own_checks() -> Checks:
    """Those of this process."""
    settings, url = health_settings(), deployment().redis_url
    return Checks(
        [
            Database(),
            Redis(url),
            Worker(),
            Beat(url),
            Queues(url, QUEUES, settings.most_queued),
            Disk(settings.state_dir, settings.least_free_mb),
        ]
    )


async def measure(
    checks: Checks, runtime: Runtime | None, limit: timedelta, canary_seconds: float
) -> HealthReport:
    """Ask everything at the same time, each within its limit."""
    asked = checks.of(runtime)
    found, pipelines, breakers, calls, objectives = await asyncio.gather(
        asyncio.gather(*(_find(check, limit) for check in asked)),
        _pipelines(runtime, canary_seconds),
        _within(limit, _breakers(runtime)),
        _within(limit, _calls()),
        _within(limit, _objectives()),
    )
    told = {
        check.name: one
        for check, one in zip(asked, found, strict=True)
        if check.told_when_well or one.status is not DependencyStatus.CONNECTED
    }
    report = assess(told, pipelines)
    return replace(report, breakers=breakers, calls=calls, objectives=objectives)


def assess(
    dependencies: Mapping[str, Dependency], pipelines: Mapping[str, PipelineHealth] | None = None
) -> HealthReport:
    """What the findings mean together."""
    pipelines = pipelines or {}
    database = dependencies[Database.name]
    others = {name: found.status for name, found in dependencies.items() if name != Database.name}
    offered = {name: found.status for name, found in pipelines.items() if found.counted}
    slow = (database.response_time_ms or 0) >= SLOW_DATABASE_MS
    return HealthReport(
        status=overall(database.status, offered, others, database_slow=slow),
        dependencies=dependencies,
        pool_usage=pool_usage(),
        pipelines=pipelines,
    )


async def _pipelines(
    runtime: Runtime | None, canary_seconds: float
) -> Mapping[str, PipelineHealth]:
    if runtime is None:
        return {}
    fresh = 0.9 * runtime.settings.monitoring_health_check_interval
    try:
        async with asyncio.timeout(canary_seconds + MARGIN_SECONDS):
            return await pipelines_health(runtime, canary_seconds, fresh)
    except TimeoutError:
        # What hangs is told under its own name: Redis, as a rule.
        silent = PipelineHealth(HealthStatus.UNAVAILABLE, error="Nothing was heard of it in time")
        tools = runtime.directory.catalogue.tools.values()
        return {spec.name: silent for spec in tools if spec.source is ToolSource.PIPELINE}


async def _within(limit: timedelta, reading: Awaitable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What is only told beside the verdict: left out when it takes too long."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            return await reading
    except TimeoutError:
        return {}


async def _breakers(runtime: Runtime | None) -> Mapping[str, Any]:
    if runtime is None:
        return {}
    found = [await runtime.breakers.snapshot(name) for name in await runtime.breakers.known()]
    return {
        one.service_name: {"state": one.state.value, "failure_count": one.failure_count}
        for one in found
    }


async def _calls() -> Mapping[str, Any]:
    try:
        calls = (await recent_calls("1h")).calls
    except TransportFault:
        return {}
    return {
        "total": calls.total,
        "successful": calls.successful,
        "failed": calls.failed + calls.timeout,
        "success_rate": 1.0 - calls.error_rate,
    }


async def _objectives() -> Mapping[str, Any]:
    return {one.name: one.to_wire() for one in await current_attainments()}


async def _find(check: DependencyCheck, limit: timedelta) -> Dependency:
    check.timeout = limit
    result = await check.get_result()
    if result.error is None:
        milliseconds = round(result.time_taken * 1000)
        return Dependency(DependencyStatus.CONNECTED, None, milliseconds, check.details)
    unknown = isinstance(result.error, Overrun)
    status = DependencyStatus.UNKNOWN if unknown else DependencyStatus.UNAVAILABLE
    return Dependency(status, error=result.error.message, details=check.details)


def _pipeline_queues(runtime: Runtime) -> Iterator[str]:
    for spec in runtime.directory.catalogue.tools.values():
        if spec.source is ToolSource.PIPELINE and "pipeline" in spec.binding:
            yield queue_of(spec.binding["pipeline"])
