"""What is measured together, and what it means."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import pytest
from typing_extensions import override

from health.checks import DependencyCheck
from health.connections import open_connections, pool_usage
from health.findings import Dependency, HealthReport, PipelineHealth
from health.measure import Checks, assess, measure
from health.status import DependencyStatus, HealthStatus
from tests.health.parts import Answering, Hanging
from tests.processes import wait_until

UP = DependencyStatus.CONNECTED


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


async def measured(*checks: DependencyCheck, milliseconds: int = 1000) -> HealthReport:
    return await measure(Checks(checks), None, timedelta(milliseconds=milliseconds), 1)


@pytest.mark.django_db(transaction=True)
async def test_checks_run_at_the_same_time() -> None:
    # F3-26: the slowest check alone decides how long an answer takes
    barrier = asyncio.Barrier(2)
    report = await measured(Answering(), Meeting(barrier), OtherMeeting(barrier))
    assert {name: found.status for name, found in report.dependencies.items()} == {
        "database": UP,
        "meeting": UP,
        "other": UP,
    }
    assert report.status is HealthStatus.HEALTHY


@pytest.mark.django_db(transaction=True)
async def test_a_hanging_dependency_is_reported_unknown_and_the_others_as_they_are() -> None:
    # F3-26, S3-054
    hanging = Hanging()
    try:
        report = await measured(Answering(), hanging, milliseconds=20)
    finally:
        hanging.release.set()
    assert report.dependencies_to_wire() == {
        "database": {"status": "connected", "response_time_ms": 2},
        "hanging": {"status": "unknown", "error": "No answer within 0.02 s"},
    }
    assert report.status is HealthStatus.DEGRADED
    assert report.reasons == ["hanging: No answer within 0.02 s"]


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


def test_pipelines_that_are_off_or_not_set_up_do_not_speak_for_the_service() -> None:
    # S0-067, S0-068, S0-069
    well = PipelineHealth(HealthStatus.HEALTHY)
    down = PipelineHealth(HealthStatus.UNAVAILABLE, error="gone")
    off = PipelineHealth(HealthStatus.UNAVAILABLE, error="It is switched off", counted=False)

    def status(**pipelines: PipelineHealth) -> HealthStatus:
        return assess({"database": Dependency(UP)}, pipelines).status

    assert status(one=well, two=well) is HealthStatus.HEALTHY
    assert status(one=well, two=off) is HealthStatus.HEALTHY
    assert status(one=off, two=off) is HealthStatus.HEALTHY
    assert status(one=well, two=down) is HealthStatus.DEGRADED
    assert status(one=down, two=off) is HealthStatus.UNAVAILABLE


def test_a_report_reads_back_as_it_was_written() -> None:
    # S0-065, S0-070, S0-080
    pipeline = PipelineHealth(HealthStatus.DEGRADED, datetime.now(UTC), 0.25, "2 failed", 41)
    report = assess(
        {
            "database": Dependency(UP, response_time_ms=3),
            "disk": Dependency(UP, details={"free_mb": 7}),
            "redis": Dependency(DependencyStatus.UNKNOWN, error="No answer within 1 s"),
        },
        {"rag_basic": pipeline},
    )
    read = HealthReport.read(report.to_json())
    assert read.to_json() == report.to_json()
    assert read.reasons == ["redis: No answer within 1 s", "pipeline rag_basic: 2 failed"]


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
