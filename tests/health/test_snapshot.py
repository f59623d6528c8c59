"""What is measured together and shared."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar

import pytest
from typing_extensions import override

from health import snapshot
from health.checks import DependencyCheck
from health.connections import open_connections, pool_usage
from health.snapshot import Dependency, HealthMonitor, assess
from health.status import DependencyStatus, HealthStatus
from tests.health.parts import Answering, Hanging
from tests.processes import wait_until
from tools.conf import ServiceSettings

UP = DependencyStatus.CONNECTED


@pytest.fixture(autouse=True)
def told() -> Iterator[list[HealthStatus]]:
    """What the hook was told; the hook of the process afterwards."""
    before = snapshot.on_status
    heard: list[HealthStatus] = []
    snapshot.on_status = heard.append
    yield heard
    snapshot.on_status = before


@dataclass
class Meeting(DependencyCheck):
    """A check that ends only when all the checks of its barrier run."""

    name: ClassVar[str] = "meeting"

    barrier: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(1), repr=False)

    @override
    async def run(self) -> float:
        await self.barrier.wait()
        return 0.0


@dataclass
class OtherMeeting(Meeting):
    name: ClassVar[str] = "other"


async def test_checks_run_at_the_same_time() -> None:
    # F3-26: the slowest check alone decides how long an answer takes
    barrier = asyncio.Barrier(2)
    monitor = HealthMonitor([Answering(), Meeting(barrier), OtherMeeting(barrier)])
    report = await monitor.report()
    assert {name: found.status for name, found in report.dependencies.items()} == {
        "database": UP,
        "meeting": UP,
        "other": UP,
    }
    assert report.status is HealthStatus.HEALTHY


async def test_askers_share_one_measurement_and_the_hook_hears_it_once(
    told: list[HealthStatus],
) -> None:
    check = Answering()
    monitor = HealthMonitor([check])
    reports = await asyncio.gather(*(monitor.report() for _ in range(10)))
    assert all(report is reports[0] for report in reports)
    assert await monitor.report() is reports[0]
    assert check.runs == 1
    assert told == [HealthStatus.HEALTHY]


async def test_a_hanging_dependency_is_reported_unknown_and_the_others_as_they_are(
    told: list[HealthStatus], monkeypatch: pytest.MonkeyPatch
) -> None:
    # F3-26, S3-054
    hanging = Hanging()
    monkeypatch.setattr(
        snapshot, "_settings", lambda: ServiceSettings(monitoring_dependency_timeout_ms=20)
    )
    try:
        report = await HealthMonitor([Answering(), hanging]).report()
    finally:
        hanging.release.set()
    assert report.dependencies_to_wire() == {
        "database": {"status": "connected", "response_time_ms": 2},
        "hanging": {"status": "unknown", "error": "No answer within 0.02 s"},
    }
    assert told == [HealthStatus.DEGRADED]


async def test_without_a_hook_measuring_works() -> None:
    snapshot.on_status = None
    report = await HealthMonitor([Answering()]).report()
    assert report.checked_at <= datetime.now(UTC)


def test_a_database_slower_than_100_ms_is_not_healthy() -> None:
    # S0-074
    quick = assess({"database": Dependency(UP, response_time_ms=99)})
    slow = assess({"database": Dependency(UP, response_time_ms=150)})
    limit = assess({"database": Dependency(UP, response_time_ms=100)})
    assert [quick.status, slow.status, limit.status] == [
        HealthStatus.HEALTHY,
        HealthStatus.DEGRADED,
        HealthStatus.DEGRADED,
    ]


def test_a_lost_database_is_told_to_the_tools_as_not_connected() -> None:
    # S0-066, S0-073, F0-14
    report = assess({"database": Dependency(DependencyStatus.UNAVAILABLE, error="gone")})
    assert report.for_tools()["status"] == "unavailable"
    database = report.for_tools()["database"]
    assert (database["connected"], database["response_time_ms"]) == (False, None)


@pytest.mark.django_db(transaction=True)
def test_connections_in_use_are_counted_while_they_are_open() -> None:
    # S0-073: measured, not a constant
    from django.db import connection

    connection.ensure_connection()
    opened, release = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            connection.ensure_connection()
            opened.set()
            release.wait(30)
        finally:
            connection.close()

    def in_use() -> int:
        return int(pool_usage().split("/")[0])

    before = in_use()
    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert opened.wait(30)
        assert in_use() == before + 1
        used, most = (int(part) for part in pool_usage().split("/"))
        assert used <= most
    finally:
        release.set()
        holder.join()
    wait_until(lambda: in_use() == before, what="the connection given back")


def test_connections_of_other_databases_are_not_counted() -> None:
    assert open_connections.count("no-such-alias") == 0
