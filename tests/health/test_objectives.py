"""Promises, and how much of what may fail within them has."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from health.models import Counting, ServiceLevelObjective
from health.objectives import Attainment, attainments
from tests.events import closing
from tools.models import ToolRequest

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def nothing_promised(db: None) -> None:
    ServiceLevelObjective.objects.all().delete()


def log(count: int, *, code: str = "", days: float = 1, **changes: Any) -> None:
    """So many calls that ended alike, some days ago."""
    at = (NOW - timedelta(days=days)).isoformat()
    status = {"": "success", "TIMEOUT": "timeout"}.get(code, "failure")
    state = "failed" if code else "completed"
    ToolRequest.objects.apply(
        closing(
            str(uuid.uuid4()),
            received_at=at,
            finished_at=at,
            code=code,
            status=status,
            state=state,
            **changes,
        )
        for _ in range(count)
    )


def log_times(times: Iterable[float]) -> None:
    for milliseconds in times:
        log(1, duration_ms=float(milliseconds))


def promised(**values: Any) -> Attainment:
    ServiceLevelObjective.objects.create(**values)
    (found,) = attainments(NOW)
    return found


def test_budget_is_burnt_by_own_failures_of_the_last_thirty_days() -> None:
    # F4-19: 99.5 % over 30 days, what is behind a tool left out
    log(1990)
    log(4, code="INTERNAL_ERROR")
    log(6, code="EXECUTION_ERROR")
    log(100, code="INTERNAL_ERROR", days=31)
    log(500, code="INVALID_ARGUMENTS")
    log(500, code="RATE_LIMITED")
    found = promised(tool="")
    assert found.name == "service"
    assert (found.calls, found.failed) == (2000, 4)
    assert found.availability_percent == pytest.approx(99.8)
    # Ten of two thousand may fail.
    assert found.burnt == pytest.approx(0.4)
    assert found.is_met


def test_a_tool_can_be_held_to_what_is_behind_it_too() -> None:
    log(95, tool="weather")
    log(3, code="EXECUTION_ERROR", tool="weather")
    log(2, code="TIMEOUT", tool="weather")
    log(1000, tool="other")
    found = promised(tool="weather", availability_percent=99, counting=Counting.ALL)
    assert (found.name, found.calls, found.failed) == ("weather", 100, 5)
    assert found.burnt == pytest.approx(5.0)
    assert not found.is_met


def test_response_times_have_a_budget_of_their_own() -> None:
    log_times([*range(10, 100), *[500] * 10])
    log(50, code="TIMEOUT", duration_ms=30_000.0)
    found = promised(tool="echo", latency_ms=200, latency_percent=95)
    assert found.within_percent == pytest.approx(90)
    assert found.slow_burnt == pytest.approx(2.0)
    assert found.burnt == 0.0
    assert not found.is_met


def test_without_calls_nothing_is_broken_and_no_figure_is_made_up() -> None:
    found = promised(tool="echo", latency_ms=100)
    assert found.is_met
    assert (found.availability_percent, found.within_percent) == (None, None)
    assert (found.burnt, found.slow_burnt) == (0.0, 0.0)


def test_a_promise_of_all_is_broken_by_the_first_failure() -> None:
    log(999)
    assert promised(tool="", availability_percent=100).is_met
    log(1, code="INTERNAL_ERROR")
    (found,) = attainments(NOW)
    assert not found.is_met


def test_objectives_that_are_switched_off_are_not_computed() -> None:
    ServiceLevelObjective.objects.create(tool="", enabled=False)
    assert attainments(NOW) == []


@pytest.mark.parametrize(
    "values",
    [
        {"availability_percent": 100.5},
        {"availability_percent": 0},
        {"latency_ms": 0},
        {"window_days": 0},
        {"window_days": 366},
    ],
)
def test_promises_that_make_no_sense_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ServiceLevelObjective(tool="x", **values).full_clean()


def test_a_tool_has_one_objective() -> None:
    ServiceLevelObjective.objects.create(tool="x")
    with pytest.raises(IntegrityError):
        ServiceLevelObjective.objects.create(tool="x")
