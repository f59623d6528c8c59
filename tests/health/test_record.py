"""The history of health, and the events that changes are."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from health.findings import Dependency, HealthReport, PipelineHealth
from health.measure import assess
from health.models import HealthSnapshot, StatusChange
from health.record import prune, record
from health.status import DependencyStatus, HealthStatus

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
UP = Dependency(DependencyStatus.CONNECTED)
DOWN = Dependency(DependencyStatus.UNAVAILABLE, error="Redis cannot be reached")
WELL = PipelineHealth(HealthStatus.HEALTHY)


def report_at(
    seconds: float, redis: Dependency = UP, pipeline: PipelineHealth = WELL, **more: Dependency
) -> HealthReport:
    made = assess({"database": UP, "redis": redis, **more}, {"rag_basic": pipeline})
    return replace(made, checked_at=NOW + timedelta(seconds=seconds))


def told(changes: list[StatusChange]) -> list[tuple[str, str, str]]:
    return [(one.name, one.before, one.after) for one in changes]


def test_every_round_is_kept_and_only_changes_are_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # S0-062, S0-072
    caplog.set_level(logging.INFO, "health.record")
    assert record(report_at(0)) == []
    assert record(report_at(30)) == []
    assert told(record(report_at(60, redis=DOWN))) == [
        ("redis", "connected", "unavailable"),
        ("service", "healthy", "degraded"),
    ]
    assert record(report_at(90, redis=DOWN)) == []
    assert told(record(report_at(120))) == [
        ("redis", "unavailable", "connected"),
        ("service", "degraded", "healthy"),
    ]
    assert HealthSnapshot.objects.count() == 5
    assert HealthSnapshot.objects.latest().status == "healthy"
    down = StatusChange.objects.get(name="service", after="degraded")
    assert down.reason == "redis: Redis cannot be reached"
    assert down.at == NOW + timedelta(seconds=60)
    assert "Health of redis: connected -> unavailable" in caplog.messages
    assert "Health of service: degraded -> healthy" in caplog.messages


def test_a_report_that_comes_late_changes_nothing() -> None:
    record(report_at(60, redis=DOWN))
    assert record(report_at(30)) == []
    assert record(report_at(60, redis=DOWN)) == []
    assert HealthSnapshot.objects.count() == 1


def test_what_is_new_is_an_event_only_when_it_is_not_well() -> None:
    record(report_at(0))
    assert told(record(report_at(30, todo=UP))) == []
    assert told(record(report_at(60, todo=UP, weather=DOWN))) == [
        ("weather", "", "unavailable"),
        ("service", "healthy", "degraded"),
    ]
    assert told(record(report_at(90))) == [("service", "degraded", "healthy")]


def test_pipelines_that_do_not_count_are_no_events() -> None:
    record(report_at(0))
    off = PipelineHealth(HealthStatus.UNAVAILABLE, error="It is switched off", counted=False)
    assert record(report_at(30, pipeline=off)) == []
    failing = PipelineHealth(HealthStatus.UNAVAILABLE, error="No answer within 5 s")
    assert told(record(report_at(60, pipeline=failing))) == [
        ("rag_basic", "", "unavailable"),
        ("service", "healthy", "unavailable"),
    ]


def test_rounds_are_kept_for_days_and_changes_for_longer() -> None:
    record(report_at(0))
    record(report_at(30, redis=DOWN))
    record(report_at(7 * 86_400))
    assert prune(NOW + timedelta(days=7, seconds=10)) == 1
    assert HealthSnapshot.objects.count() == 2
    assert StatusChange.objects.count() == 4
    prune(NOW + timedelta(days=401))
    assert HealthSnapshot.objects.count() == 0
    assert StatusChange.objects.count() == 2
