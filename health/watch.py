"""Each web process keeps the report at hand that it answers from, and notices when it cannot be right.

Workers make a round of all checks every interval and publish what they found. A process takes over
what is published, once a second. It measures for itself when there is no recent report (the beat, the
workers or Redis are away) or when it sees otherwise: it can use the database or Redis, which the
report says is away, or the other way round. What it measures is published and written down as well,
so that a change is told of though nobody makes rounds.

    workers, every interval --> Redis --> report of each process --> GET /health
    a process that knows better --^
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from health.canary import ROUND_SECONDS
from health.checks import Beat, Database, DependencyCheck, Redis, Worker
from health.findings import Dependency, HealthReport
from health.latest import latest, publish
from health.measure import Checks, assess, measure, own_checks
from health.record import keep
from health.status import DependencyStatus, HealthStatus
from tools.execution.ending import end
from tools.execution.federation import troubled
from tools.execution.runtime import Runtime

logger = logging.getLogger(__name__)

LOOK_EVERY: Final = 1.0
# Under which name it is told that the checks themselves hang.
CHECKS: Final = "checks"
# A report is due every interval; so much later it has not come.
GRACE_SECONDS: Final = 0.5
# Nobody who asks waits longer, whatever the checks wait for.
ANSWER_SECONDS: Final = 0.9
# So long before it is due, those who make it are looked at.
AHEAD_SECONDS: Final = 1.5
# Whatever the interval: nobody is answered from an older one.
OLDEST_SECONDS: Final = 60.0
# How soon is looked again at what was amiss: a service that starts is well shortly after.
AGAIN_SECONDS: Final = 1.0


class HealthWatch:
    """The report of one process. `on_status` is told the status of each new one."""

    def __init__(
        self,
        runtime: Runtime,
        checks: Checks | None = None,
        on_status: Callable[[HealthStatus], None] | None = None,
    ) -> None:
        self._runtime = runtime
        self._checks = checks or own_checks()
        self._on_status = on_status
        self._report: HealthReport | None = None
        self._database = Database()
        self._makers = (Worker(), Beat(runtime.link.url))
        self._foreseen: datetime | None = None
        self._amiss_since: datetime | None = None
        self._recorded: tuple[HealthStatus, datetime] | None = None
        self._measuring: asyncio.Task[HealthReport] | None = None

    async def run(self) -> None:
        """Look until cancelled. Not at once: a process that starts has other things to do."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self.look()
            except Exception:
                logger.exception("A look at the health of the service failed on a bug")

    async def close(self) -> None:
        """Give up what is being measured."""
        if self._measuring is not None:
            await end(self._measuring)

    async def report(self) -> HealthReport:
        """The report at hand; measured now when it is too old to be one. Takes a second at most."""
        report = self._report
        if report is None or report.age_seconds > self._oldest():
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    report = await self._measured()
            except TimeoutError:
                return overdue(report)
        return self._with_own_troubles(report)

    async def look(self) -> None:
        """Take over what is published, or measure."""
        published = await latest(self._runtime)
        # While Redis can be asked, a report that is gone was taken back.
        known = published if self._runtime.link.available else self._report
        if known is not None and await self._believable(known):
            self._take(known)
        else:
            report = await self._measured()
            await publish(self._runtime, report)
            await self._record(report)

    async def _believable(self, report: HealthReport) -> bool:
        if report.age_seconds > self._oldest() or self._is_worth_another(report):
            return False
        redis, database = report.dependencies[Redis.name], report.dependencies[Database.name]
        if (redis.status is DependencyStatus.CONNECTED) != self._runtime.link.available:
            return False
        if not await self._agrees(self._database, database):
            return False
        return await self._another_will_come(report)

    async def _another_will_come(self, report: HealthReport) -> bool:
        """Shortly before the next report is due: those who make it are as this one says."""
        interval = self._runtime.settings.monitoring_health_check_interval
        if report.age_seconds < interval - AHEAD_SECONDS or self._foreseen == report.checked_at:
            return True
        self._foreseen = report.checked_at
        told = [(maker, report.dependencies.get(maker.name)) for maker in self._makers]
        agree = [await self._agrees(maker, found) for maker, found in told if found is not None]
        return all(agree)

    async def _agrees(self, check: DependencyCheck, told: Dependency) -> bool:
        check.timeout = self._limit()
        found = await check.get_result()
        return (found.error is None) == (told.status is DependencyStatus.CONNECTED)

    def _is_worth_another(self, report: HealthReport) -> bool:
        """Something is amiss. It is looked at again soon, less often the longer it lasts."""
        if report.status is HealthStatus.HEALTHY:
            self._amiss_since = None
            return False
        if self._amiss_since is None:
            self._amiss_since = report.checked_at
        lasted = (datetime.now(UTC) - self._amiss_since).total_seconds()
        return report.age_seconds > max(AGAIN_SECONDS, lasted / 10)

    def _oldest(self) -> float:
        interval = self._runtime.settings.monitoring_health_check_interval
        return min(OLDEST_SECONDS, interval + GRACE_SECONDS)

    def _limit(self) -> timedelta:
        return timedelta(milliseconds=self._runtime.settings.monitoring_dependency_timeout_ms)

    async def _measured(self) -> HealthReport:
        """A report measured now; all who ask meanwhile share one measurement."""
        if self._measuring is None or self._measuring.done():
            limit = self._limit()
            seconds = min(ROUND_SECONDS, limit.total_seconds())
            self._measuring = asyncio.create_task(
                measure(self._checks, self._runtime, limit, seconds)
            )
        report = await asyncio.shield(self._measuring)
        self._take(report)
        return report

    def _take(self, report: HealthReport) -> None:
        self._report = report
        if self._on_status is not None:
            self._on_status(self._with_own_troubles(report).status)

    def _with_own_troubles(self, report: HealthReport) -> HealthReport:
        """What this process knows of its own connections to MCP servers is newer than any report."""
        worse = {
            name: Dependency(DependencyStatus.UNAVAILABLE, error=why)
            for name, why in troubled().items()
            if name not in report.dependencies
            or report.dependencies[name].status is DependencyStatus.CONNECTED
        }
        if not worse:
            return report
        seen = assess({**report.dependencies, **worse}, report.pipelines)
        return report.with_status(seen.status, seen.dependencies)

    async def _record(self, report: HealthReport) -> None:
        """Keep what was measured here: each change, and one an interval."""
        interval = timedelta(seconds=self._runtime.settings.monitoring_health_check_interval)
        if self._recorded is not None:
            status, at = self._recorded
            if status is report.status and datetime.now(UTC) - at < interval:
                return
        if await keep(report):
            self._recorded = report.status, datetime.now(UTC)


def overdue(last: HealthReport | None) -> HealthReport:
    """What is known while the checks do not answer: the last report, and that it cannot be relied on."""
    silent = f" for {last.age_seconds:.0f} s" if last is not None else ""
    found = Dependency(DependencyStatus.UNKNOWN, error=f"They have not answered{silent}")
    if last is None:
        unknown = Dependency(DependencyStatus.UNKNOWN, error="Not checked yet")
        return assess({Database.name: unknown, CHECKS: found})
    seen = assess({**last.dependencies, CHECKS: found}, last.pipelines)
    return last.with_status(seen.status, seen.dependencies)
