"""A test event: sent once and at once, so that whoever set a receiver up sees what came back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Final

from health.models import CurrentHealth, DeliveryState, HealthWebhook, WebhookDelivery
from health.webhooks.deliveries import service_name
from health.webhooks.events import trial_event
from health.webhooks.sending import GONE, Outcome, post_event, switch_off

SECONDS: Final = 10.0


def send_trial(webhook: HealthWebhook) -> Outcome:
    """Send a test event to a saved webhook, also to one that is off; what came back."""
    now = datetime.now(UTC)
    report = CurrentHealth.objects.values_list("report", flat=True).first()
    status = report["status"] if report else "healthy"
    delivery = WebhookDelivery(
        webhook=webhook,
        event=trial_event(now, service_name(), status),
        attempts=1,
        created_at=now,
        attempted_at=now,
        next_attempt_at=None,
    )
    outcome = asyncio.run(post_event(delivery, SECONDS))
    if outcome.status == GONE:
        switch_off(webhook)
    delivery.state = DeliveryState.DELIVERED if outcome.ok else DeliveryState.GIVEN_UP
    delivery.last_status, delivery.last_error = outcome.status, outcome.error[:200]
    delivery.ended_at = datetime.now(UTC)
    delivery.save()
    return outcome
