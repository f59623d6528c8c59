"""The report that a process answers from: whose it is, and when it is not believed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest
from asgiref.sync import sync_to_async
from health_check.base import HealthCheckResult
from health_check.exceptions import ServiceUnavailable
from typing_extensions import override

from health.checks import DependencyCheck
from health.findings import Dependency, HealthReport, Source
from health.latest import latest, publish
from health.measure import Checks, assess
from health.models import HealthSnapshot, StatusChange
from health.status import DependencyStatus, HealthStatus
from health.watch import ANSWER_SECONDS, HealthWatch
from tests.health.parts import Answering
from tools.backends import statistics
from tools.execution.runtime import Runtime, open_runtime

pytestmark = pytest.mark.django_db(transaction=True)

UP = Dependency(DependencyStatus.CONNECTED, response_time_ms=1)
DOWN = Dependency(DependencyStatus.UNAVAILABLE, error="gone")


@dataclass
class RedisThere(Answering):
    name: ClassVar[str] = "redis"


@dataclass
class Other(DependencyCheck):
    """A dependency that is there or not, as the test says."""

    name: ClassVar[str] = "other"

    there: bool = True

    @override
    async def run(self) -> float:
        if not self.there:
            raise ServiceUnavailable("gone")
        return 0.001


@pytest.fixture
async def runtime(transactional_db: None, redis_url: str) -> AsyncIterator[Runtime]:
    statistics.forget()
    async with open_runtime() as opened:
        await opened.link.command("FLUSHALL")
        yield opened


@pytest.fixture
def database() -> Answering:
    return Answering()


@pytest.fixture
def other() -> Other:
    return Other()


@pytest.fixture
def watch(runtime: Runtime, database: Answering, other: Other) -> HealthWatch:
    return HealthWatch(runtime, Checks([database, RedisThere(), other]))


def report_of(age: float = 0.0, **dependencies: Dependency) -> HealthReport:
    """What a round of the workers found so many seconds ago."""
    made = assess({"database": UP, "redis": UP, "other": UP, **dependencies})
    checked_at = datetime.now(UTC) - timedelta(seconds=age)
    return replace(made, checked_at=checked_at, source=Source.SNAPSHOT)


async def test_a_published_report_is_taken_over_and_nothing_is_measured(
    runtime: Runtime, watch: HealthWatch, database: Answering
) -> None:
    await publish(runtime, report_of(age=1))
    await watch.look()
    report = await watch.report()
    assert (report.source, report.status) == (Source.SNAPSHOT, HealthStatus.HEALTHY)
    assert report.age_seconds >= 1
    assert database.runs == 0


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(None, id="nobody publishes"),
        pytest.param(report_of(age=40), id="the last one is too old"),
        pytest.param(report_of(database=DOWN), id="the database is said to be away and is not"),
        pytest.param(report_of(redis=DOWN), id="Redis is said to be away and is not"),
    ],
)
async def test_a_process_measures_for_itself_what_it_cannot_believe(
    runtime: Runtime, watch: HealthWatch, database: Answering, report: HealthReport | None
) -> None:
    # S0-079: what is too old is measured anew
    if report is not None:
        await publish(runtime, report)
    await watch.look()
    found = await watch.report()
    assert (found.source, found.status) == (Source.MEASURED, HealthStatus.HEALTHY)
    assert found.age_seconds < 30
    assert database.runs == 1
    # The others need not measure too.
    published = await latest(runtime)
    assert published is not None
    assert published.checked_at == found.checked_at


async def test_what_is_amiss_is_looked_at_again_before_its_time(
    runtime: Runtime, watch: HealthWatch, database: Answering
) -> None:
    await publish(runtime, report_of(other=DOWN))
    await watch.look()
    assert (await watch.report()).status is HealthStatus.DEGRADED
    assert database.runs == 0
    await publish(runtime, report_of(age=4, other=DOWN))
    await watch.look()
    assert (await watch.report()).status is HealthStatus.HEALTHY
    assert database.runs == 1


async def test_changes_are_written_down_though_nobody_makes_rounds(
    watch: HealthWatch, other: Other, runtime: Runtime
) -> None:
    await watch.look()
    other.there = False
    await runtime.link.command("DEL", "cp:health:latest")
    # Its own report is too young to be measured anew, so it is made old.
    assert watch._report is not None
    watch._report = replace(watch._report, checked_at=datetime.now(UTC) - timedelta(seconds=61))
    await watch.look()
    snapshots = await sync_to_async(lambda: list(HealthSnapshot.objects.all()))()
    assert [one.status for one in snapshots] == ["degraded", "healthy"]
    changes = await sync_to_async(lambda: list(StatusChange.objects.order_by("pk")))()
    assert [(one.subject, one.name, one.before, one.after) for one in changes] == [
        ("dependency", "other", "connected", "unavailable"),
        ("service", "service", "healthy", "degraded"),
    ]
    assert changes[1].reason == "other: gone"


async def test_who_asks_while_it_is_measured_waits_for_the_same_measurement(
    watch: HealthWatch, database: Answering
) -> None:
    reports = await asyncio.gather(*(watch.report() for _ in range(10)))
    assert all(report.checked_at == reports[0].checked_at for report in reports)
    assert database.runs == 1


@dataclass
class Endless(DependencyCheck):
    """A check that outlasts its limit: it does not even listen to being given up."""

    name: ClassVar[str] = "endless"

    released: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @override
    async def get_result(self, executor: Executor | None = None) -> HealthCheckResult:
        await self.released.wait()
        return await super().get_result(executor)

    @override
    async def run(self) -> float:
        return 0.0


async def test_who_asks_is_answered_within_a_second_though_the_checks_hang(
    runtime: Runtime, database: Answering
) -> None:
    # F3-26: the answer does not wait, and does not pretend
    assert ANSWER_SECONDS < 1
    endless = Endless()
    watch = HealthWatch(runtime, Checks([database, RedisThere(), endless]))
    async with asyncio.timeout(20):
        first = await watch.report()
    assert first.status is HealthStatus.UNAVAILABLE
    assert first.reasons[-1] == "checks: They have not answered"
    watch._report = report_of(age=61)
    async with asyncio.timeout(20):
        stale = await watch.report()
    assert (stale.status, stale.source) == (HealthStatus.DEGRADED, Source.SNAPSHOT)
    assert re.fullmatch(r"checks: They have not answered for [67]\d s", stale.reasons[0])
    endless.released.set()
    while (await watch.report()).status is not HealthStatus.HEALTHY:
        await asyncio.sleep(0.01)


async def test_the_state_of_the_process_follows_each_report(
    runtime: Runtime, database: Answering
) -> None:
    # S3-038, S3-039, S3-040
    heard: list[HealthStatus] = []
    watch = HealthWatch(runtime, Checks([database, RedisThere()]), heard.append)
    await watch.look()
    await publish(runtime, report_of(other=DOWN))
    await watch.look()
    await publish(runtime, report_of())
    await watch.look()
    assert heard == [HealthStatus.HEALTHY, HealthStatus.DEGRADED, HealthStatus.HEALTHY]
