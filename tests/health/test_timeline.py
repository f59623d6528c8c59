"""How everything was over a time, told from rounds of checks and changes of status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from health.models import StatusChange, Subject
from health.record import record
from health.timeline import MOST_READ, Course, timeline
from tests.health.reports import report

pytestmark = pytest.mark.django_db

HALF_HOUR = timedelta(minutes=30)
THREE_HOURS = 6 * HALF_HOUR


def courses(now: datetime) -> dict[str, Course]:
    return {one.name: one for one in timeline(THREE_HOURS, 6, now).courses}


def test_each_step_has_the_worst_status_and_those_without_a_round_have_none() -> None:
    now = datetime.now(UTC)
    record(report(later=-7100))
    record(report("worker", later=-3500))
    record(report(later=-1700))
    found = courses(now)
    assert found["worker"].steps == ["", "", "connected", "", "unavailable", "unavailable"]
    assert found["service"].steps == ["", "", "healthy", "", "degraded", "degraded"]
    assert found["redis"].steps == ["", "", "connected", "", "connected", "connected"]
    # From the change at 3,500 seconds ago to the one at 1,700; and of three half hours.
    assert found["worker"].unwell == pytest.approx(HALF_HOUR, abs=timedelta(seconds=5))
    assert found["worker"].well == pytest.approx(2 / 3, abs=0.01)
    assert (found["redis"].unwell, found["redis"].well) == (timedelta(), 1)


def test_what_was_bad_before_is_bad_until_it_is_not() -> None:
    now = datetime.now(UTC)
    record(report(later=-20_000))
    record(report("redis", later=-15_000))
    for minutes in (170, 140, 110, 80, 50, 20):
        record(report("redis", later=-60 * minutes))
    assert courses(now)["redis"].steps == ["unavailable"] * 6
    assert courses(now)["redis"].well == 0


def test_the_service_comes_first_and_then_what_was_worst() -> None:
    record(report(later=-3000))
    record(report("worker", later=-2000))
    record(report("worker", "redis", later=-1000))
    found = timeline(THREE_HOURS, 6).courses
    assert [one.name for one in found] == ["service", "worker", "redis", "database"]


def test_what_is_not_watched_any_more_has_no_status_since_its_last_change() -> None:
    now = datetime.now(UTC)
    record(report(later=-3500))
    StatusChange.objects.create(
        at=now - timedelta(seconds=3000),
        subject=Subject.DEPENDENCY,
        name="mcp:gone",
        before="connected",
        after="unavailable",
    )
    record(report(later=-100))
    gone = courses(now)["mcp:gone"]
    assert gone.steps == ["", "", "", "", "connected", ""]
    assert gone.unwell == timedelta()


def test_of_very_many_changes_the_latest_are_told_and_since_when() -> None:
    now = datetime.now(UTC)
    record(report(later=-5000))
    record(report(later=-500))
    words = ("connected", "unavailable")
    StatusChange.objects.bulk_create(
        StatusChange(
            at=now - timedelta(seconds=6000 - number),
            subject=Subject.DEPENDENCY,
            name="redis",
            before=words[number % 2],
            after=words[1 - number % 2],
        )
        for number in range(MOST_READ + 1000)
    )
    found = timeline(THREE_HOURS, 6, now)
    assert found.cut_at == now - timedelta(seconds=5000)
    redis = next(one for one in found.courses if one.name == "redis")
    assert redis.well is not None
    # Half of 2,000 seconds, and then well: the changes before are in no figure.
    assert redis.unwell < timedelta(seconds=1001)


def test_without_a_round_there_is_nothing_to_tell() -> None:
    assert timeline(THREE_HOURS, 6).courses == []
