"""The schedule of the beat, which is in the database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from django_celery_beat.models import PeriodicTask

from controlplane.beat import HEALTH_CHECKS, Scheduler, every, follow_interval
from controlplane.celery import app
from health.checks.broker import BEAT_KEY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def scheduler(redis_url: str, settings: object) -> Iterator[Scheduler]:
    """A beat that has been set up and goes round when told to."""
    made = Scheduler(app=app, lazy=True)
    made.setup_schedule()
    yield made
    made._redis.close()


def task(name: str) -> PeriodicTask:
    return PeriodicTask.objects.select_related("interval").get(name=name)


def test_what_the_program_needs_is_on_the_schedule_and_stays_as_operators_changed_it(
    scheduler: Scheduler,
) -> None:
    assert set(app.conf.beat_schedule) <= set(PeriodicTask.objects.values_list("name", flat=True))
    prune = task("prune-journal")
    assert (prune.interval.every, prune.expire_seconds) == (3600, 3600)
    prune.interval, prune.enabled = every(600), False
    prune.save()
    PeriodicTask.objects.filter(name="prune-health").delete()
    scheduler.setup_schedule()
    changed = task("prune-journal")
    assert (changed.interval.every, changed.enabled) == (600, False)
    assert task("prune-health").enabled


def test_health_checks_are_made_as_often_as_the_service_is_configured(
    scheduler: Scheduler,
) -> None:
    follow_interval(30)
    assert task(HEALTH_CHECKS).interval.every == 30
    follow_interval(10)
    found = task(HEALTH_CHECKS)
    # A round that nobody took is worthless when the next one is due.
    assert (found.interval.every, found.expire_seconds) == (10, 10)


def test_the_beat_tells_each_time_that_it_goes_round(scheduler: Scheduler, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.delete(BEAT_KEY)
        scheduler._tell()
        assert float(client.get(BEAT_KEY) or 0) > 0
