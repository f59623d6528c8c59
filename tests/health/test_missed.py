"""Changes while the database is away, and what is removed of events."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from health.models import HealthWebhook, StatusChange, WebhookDelivery
from health.record import DELIVERIES_KEPT, Keeper, keep, prune
from health.webhooks import courier
from tests.health.reports import report
from tests.health.webhooks.parts import make_webhook, record_outage

pytestmark = pytest.mark.django_db


def changes() -> list[tuple[str, str, str]]:
    found = StatusChange.objects.order_by("at", "name")
    return [(one.name, one.before, one.after) for one in found]


class Away:
    """A database that takes nothing while `down`."""

    def __init__(self) -> None:
        self.down = True

    def __call__(self, execute: Any, *args: Any) -> Any:
        if self.down:
            raise OperationalError("the database is away")
        return execute(*args)


def test_change_that_the_database_missed_is_logged_at_once_and_written_when_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # F0-22
    caplog.set_level(logging.INFO, "health.record")
    make_webhook("https://example.org/", changes="service")
    keeper, away = Keeper(), Away()
    assert keeper.keep(report(later=-4))
    with connection.execute_wrapper(away):
        assert not keeper.keep(report("database", later=-3))
        assert not keeper.keep(report("database", later=-2))
        assert [one.getMessage() for one in caplog.records] == [
            "Health of database: connected -> unavailable",
            "Health of service: healthy -> unavailable",
        ]
        away.down = False
        assert keeper.keep(report())
    assert changes() == [
        ("database", "connected", "unavailable"),
        ("service", "healthy", "unavailable"),
        ("database", "unavailable", "connected"),
        ("service", "unavailable", "healthy"),
    ]
    assert len(caplog.records) == 4
    told = WebhookDelivery.objects.order_by("pk")
    assert [one.event["data"]["after"] for one in told] == ["unavailable", "healthy"]
    assert told[0].event["timestamp"] < told[1].event["timestamp"]


def test_two_processes_that_missed_the_same_write_it_once() -> None:
    first, second, away = Keeper(), Keeper(), Away()
    for keeper, later in ((first, -9), (second, -8)):
        assert keeper.keep(report(later=later))
    with connection.execute_wrapper(away):
        for keeper, later in ((first, -7), (second, -6)):
            assert not keeper.keep(report("database", later=later))
        away.down = False
        for keeper, later in ((first, -5), (second, -4)):
            assert keeper.keep(report(later=later))
    assert changes() == [
        ("database", "connected", "unavailable"),
        ("service", "healthy", "unavailable"),
        ("database", "unavailable", "connected"),
        ("service", "unavailable", "healthy"),
    ]


def test_process_that_starts_while_the_database_is_away_makes_nothing_up() -> None:
    keeper, away = Keeper(), Away()
    with connection.execute_wrapper(away):
        assert not keeper.keep(report("database", later=-1))
        away.down = False
        assert keeper.keep(report())
    assert changes() == []


@pytest.mark.django_db(transaction=True)
async def test_reports_are_kept_from_an_event_loop() -> None:
    assert await keep(report())


@pytest.mark.django_db(transaction=True)
def test_courier_without_a_database_leaves_events_to_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    with connection.execute_wrapper(Away()):
        courier.send_now()
    assert "Events for webhooks wait: OperationalError" in caplog.text


def test_deliveries_that_have_ended_are_removed_after_a_month() -> None:
    make_webhook("https://example.org/", changes="service")
    record_outage()
    now = datetime.now(UTC)
    long_ago = now - DELIVERIES_KEPT - timedelta(hours=1)
    WebhookDelivery.objects.update(created_at=long_ago)
    webhook = HealthWebhook.objects.get()
    for state in ("delivered", "given_up"):
        WebhookDelivery.objects.create(
            webhook=webhook, event={}, state=state, created_at=long_ago, next_attempt_at=None
        )
    recent = WebhookDelivery.objects.create(webhook=webhook, event={}, state="delivered")
    assert prune(now) == 2
    left = WebhookDelivery.objects.values_list("state", flat=True)
    assert sorted(left) == ["delivered", "waiting"]
    assert WebhookDelivery.objects.filter(pk=recent.pk).exists()
