"""Webhooks with a receiver that checks signatures as its own code would."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any, Final

from health.models import HealthWebhook, WebhookDelivery
from health.record import record
from tests.health.reports import report
from tests.http_server import Asked, HttpServer

SECRET: Final = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HERE: Final = ["127.0.0.0/8"]


def make_webhook(url: str, **fields: Any) -> HealthWebhook:
    """A saved webhook that may be on this machine."""
    webhook = HealthWebhook(**{"name": "pager", "url": url, "allowed_networks": HERE, **fields})
    webhook.set_secret(SECRET)
    webhook.save()
    return webhook


def verified(asked: Asked, secret: str = SECRET) -> dict[str, Any]:
    """The event in a request, once its signature is found right and its time recent."""
    event_id, timestamp = asked.header("webhook-id"), asked.header("webhook-timestamp")
    assert event_id is not None
    assert timestamp is not None
    assert abs(datetime.now(UTC).timestamp() - int(timestamp)) < 300
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode() + asked.body
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert asked.header("webhook-signature") == f"v1,{wanted}"
    assert asked.header("content-type") == "application/json"
    event: dict[str, Any] = json.loads(asked.body)
    return event


def record_outage() -> list[WebhookDelivery]:
    """All was well, then no worker answered; what is to be delivered of that."""
    record(report(later=-1))
    record(report("worker"))
    return list(WebhookDelivery.objects.order_by("pk"))


def events(server: HttpServer) -> list[tuple[str, str]]:
    """What a receiver was told of, and the status each has now; in the order of names."""
    return sorted(
        (event["data"]["name"], event["data"]["after"])
        for event in (verified(asked) for asked in server.asked)
    )


def make_due() -> None:
    """Let the time of every waiting delivery have come."""
    WebhookDelivery.objects.filter(state="waiting").update(next_attempt_at=datetime.now(UTC))
