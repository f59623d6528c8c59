"""The health of the service as measured now, shared for a second between those who ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from health.checks import Database, DependencyCheck, Overrun, Redis, Worker
from health.connections import pool_usage
from health.status import DependencyStatus, HealthStatus, overall, state_for
from tools.backends.memo import Memo
from tools.conf import ServiceSettings, deployment
from tools.contracts import wire_time
from tools.errors import Starting
from tools.execution.federation import troubled
from tools.execution.runtime import current
from tools.guards.breaker import BreakerState

__all__ = [
    "Dependency",
    "HealthMonitor",
    "HealthReport",
    "current_health",
    "on_status",
    "state_for",
]

FRESH_SECONDS: Final = 1.0
SLOW_DATABASE_MS: Final = 100

# Told about every measurement; the web application lets its process state follow it.
on_status: Callable[[HealthStatus], None] | None = None


@dataclass(frozen=True, slots=True)
class Dependency:
    """What the check of one dependency found."""

    status: DependencyStatus
    error: str | None = None
    response_time_ms: int | None = None

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"status": self.status.value}
        if self.error is not None:
            wire["error"] = self.error
        if self.response_time_ms is not None:
            wire["response_time_ms"] = self.response_time_ms
        return wire


@dataclass(frozen=True, slots=True)
class HealthReport:
    """One measurement of everything."""

    status: HealthStatus
    dependencies: Mapping[str, Dependency]
    pool_usage: str
    pipelines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    checked_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def for_tools(self) -> dict[str, Any]:
        """The report as the built-in tools take it."""
        database = self.dependencies[Database.name]
        return {
            "status": self.status.value,
            "pipelines": dict(self.pipelines),
            "database": {
                "connected": database.status is DependencyStatus.CONNECTED,
                "response_time_ms": database.response_time_ms,
                "connection_pool_usage": self.pool_usage,
            },
            "dependencies": self.dependencies_to_wire(),
            "checked_at": self.checked_at,
        }

    def dependencies_to_wire(self) -> dict[str, Any]:
        return {name: found.to_wire() for name, found in self.dependencies.items()}

    @property
    def timestamp(self) -> str:
        return wire_time(self.checked_at)


class HealthMonitor:
    """Runs the checks together; askers within a second share one run."""

    def __init__(self, checks: Sequence[DependencyCheck]) -> None:
        self._checks = checks
        self._shared: Memo[HealthReport] = Memo(FRESH_SECONDS)

    async def report(self) -> HealthReport:
        return await self._shared.get("", self._measure)

    async def _measure(self) -> HealthReport:
        limit = timedelta(milliseconds=_settings().monitoring_dependency_timeout_ms)
        found = await asyncio.gather(*(_find(check, limit) for check in self._checks))
        checked = dict(zip((check.name for check in self._checks), found, strict=True))
        report = assess({**await _left_alone(), **checked})
        if on_status is not None:
            on_status(report.status)
        return report


async def current_health() -> HealthReport:
    """The health of the service, at most a second old."""
    return await monitor().report()


@cache
def monitor() -> HealthMonitor:
    """The monitor of this process."""
    return HealthMonitor([Database(), Redis(deployment().redis_url), Worker()])


def assess(dependencies: Mapping[str, Dependency]) -> HealthReport:
    """What the findings mean together."""
    database = dependencies[Database.name]
    others = {name: found.status for name, found in dependencies.items() if name != Database.name}
    slow = (database.response_time_ms or 0) >= SLOW_DATABASE_MS
    return HealthReport(
        status=overall(database.status, {}, others, database_slow=slow),
        dependencies=dependencies,
        pool_usage=pool_usage(),
    )


async def _find(check: DependencyCheck, limit: timedelta) -> Dependency:
    check.timeout = limit
    result = await check.get_result()
    if result.error is None:
        return Dependency(
            DependencyStatus.CONNECTED, response_time_ms=round(result.time_taken * 1000)
        )
    unknown = isinstance(result.error, Overrun)
    status = DependencyStatus.UNKNOWN if unknown else DependencyStatus.UNAVAILABLE
    return Dependency(status, error=result.error.message)


async def _left_alone() -> dict[str, Dependency]:
    """What the tools lean on and cannot be used at the moment, or is left alone by its breaker."""
    try:
        runtime = current()
    except Starting:
        return {}
    tools = runtime.directory.catalogue.tools.values()
    found = {
        name: Dependency(DependencyStatus.UNAVAILABLE, error=why)
        for name, why in troubled().items()
    }
    for name in sorted({spec.dependency for spec in tools if spec.dependency}):
        breaker = await runtime.breakers.snapshot(name)
        if breaker.state is not BreakerState.CLOSED:
            found[name] = Dependency(
                DependencyStatus.UNAVAILABLE, error=f"Its circuit breaker is {breaker.state.value}"
            )
    return found


def _settings() -> ServiceSettings:
    try:
        return current().settings
    except Starting:
        return ServiceSettings()
