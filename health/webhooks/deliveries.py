"""Deliveries as rows: made with the change, taken by one sender at a time, ended or put off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import F, QuerySet

from health.findings import HealthReport
from health.models import (
    DeliveryState,
    HealthWebhook,
    StatusChange,
    Subject,
    Told,
    WebhookDelivery,
)
from health.webhooks.events import changed_event
from tools.conf import ConfigurationFault, ServiceSettings
from tools.selectors.service import service_settings

# How long after each failed attempt the next one is due.
WAITS: Final = (1, 5, 25, 125, 600)
MOST_ATTEMPTS: Final = len(WAITS) + 1
# Longer than any attempt lasts. A sender that has not ended one by then is dead.
HELD: Final = timedelta(seconds=60)
DIED: Final = "the process that sent it ended meanwhile"


def create_deliveries(changes: Sequence[StatusChange], report: HealthReport) -> None:
    """Rows for everyone who is told of these changes; in the transaction that writes them."""
    webhooks = list(HealthWebhook.objects.filter(enabled=True)) if changes else []
    if not webhooks:
        return
    service = service_name()
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            webhook=webhook,
            change=change,
            event=changed_event(change, service, report.status.value),
        )
        for webhook in webhooks
        for change in changes
        if webhook.changes == Told.ALL or change.subject == Subject.SERVICE
    )


def due(now: datetime | None = None) -> QuerySet[WebhookDelivery]:
    """Those that should be sent now, the oldest first."""
    return WebhookDelivery.objects.filter(
        state=DeliveryState.WAITING, next_attempt_at__lte=now or datetime.now(UTC)
    ).order_by("next_attempt_at", "pk")


def take(keys: Iterable[int]) -> list[WebhookDelivery]:
    """Of these, those that are due and that nobody else took: they are the caller's to send."""
    return [found for key in keys if (found := _take(key)) is not None]


def _take(key: int) -> WebhookDelivery | None:
    now = datetime.now(UTC)
    # One statement, so that of two who try one gets it.
    taken = (
        due(now)
        .filter(pk=key)
        .order_by()
        .update(attempts=F("attempts") + 1, attempted_at=now, next_attempt_at=now + HELD)
    )
    if not taken:
        return None
    delivery = WebhookDelivery.objects.select_related("webhook").get(pk=key)
    if delivery.attempts > MOST_ATTEMPTS:
        give_up(delivery, DIED)
        return None
    if not delivery.webhook.enabled:
        give_up(delivery, "the webhook was switched off")
        return None
    return delivery


def delivered(delivery: WebhookDelivery, status: int) -> None:
    """The receiver has it."""
    _end(delivery, DeliveryState.DELIVERED, last_status=status, last_error="")


def give_up(delivery: WebhookDelivery, error: str, status: int | None = None) -> None:
    """It is not tried again."""
    _end(delivery, DeliveryState.GIVEN_UP, last_status=status, last_error=error[:200])


def put_off(delivery: WebhookDelivery, error: str, status: int | None = None) -> int | None:
    """It is tried again after so many seconds; None when it was tried often enough."""
    if delivery.attempts >= MOST_ATTEMPTS:
        give_up(delivery, error, status)
        return None
    seconds = WAITS[delivery.attempts - 1]
    _mine(delivery).update(
        last_status=status,
        last_error=error[:200],
        next_attempt_at=datetime.now(UTC) + timedelta(seconds=seconds),
    )
    return seconds


def send_again(delivery: WebhookDelivery) -> None:
    """Begin anew with one that has ended."""
    WebhookDelivery.objects.filter(pk=delivery.pk).exclude(state=DeliveryState.WAITING).update(
        state=DeliveryState.WAITING, attempts=0, next_attempt_at=datetime.now(UTC), ended_at=None
    )


def service_name() -> str:
    """What the service is called in events."""
    try:
        return service_settings().service_name
    except ConfigurationFault:
        return ServiceSettings().service_name


def _end(delivery: WebhookDelivery, state: DeliveryState, **outcome: object) -> None:
    _mine(delivery).update(state=state, ended_at=datetime.now(UTC), next_attempt_at=None, **outcome)


def _mine(delivery: WebhookDelivery) -> QuerySet[WebhookDelivery]:
    """The row, unless somebody else has taken it since."""
    return WebhookDelivery.objects.filter(
        pk=delivery.pk, state=DeliveryState.WAITING, attempts=delivery.attempts
    )
