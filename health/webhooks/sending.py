"""Sends deliveries: all that are due at once, each within a limit, and writes down what came of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from health.models import HealthWebhook, WebhookDelivery
from health.webhooks.deliveries import delivered, due, give_up, put_off, take
from health.webhooks.events import body_of
from health.webhooks.signing import signed_headers
from health.webhooks.workers import delivery_workers
from tools.backends.http_api.posting import PostFault, post
from tools.services.audit.receivers import watched_update
from tools.vault import VaultFault, unseal

logger = logging.getLogger(__name__)

GONE: Final = 410
# A worker may wait for a slow receiver.
WORKER_SECONDS: Final = 15.0
MOST_AT_ONCE: Final = 20
# Waits up to this long are for a message to the workers; longer ones for whoever looks what is due.
SOON_SECONDS: Final = 30
USER_AGENT: Final = "mcp-control-plane"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a receiver answered, or why it did not."""

    status: int | None = None
    error: str = ""

    @property
    def ok(self) -> bool:
        return not self.error


def send_due(seconds: float = WORKER_SECONDS, most: int = MOST_AT_ONCE) -> int:
    """Send what is due; how many were sent or tried."""
    return send(due().values_list("pk", flat=True)[:most], seconds)


def send(keys: Iterable[int], seconds: float = WORKER_SECONDS) -> int:
    """Send these, unless they are not due or somebody else is at it; how many were."""
    mine = take(keys)
    if mine:
        for delivery, outcome in zip(mine, asyncio.run(_post_all(mine, seconds)), strict=True):
            _write_down(delivery, outcome)
    return len(mine)


async def _post_all(deliveries: Sequence[WebhookDelivery], seconds: float) -> list[Outcome]:
    return await asyncio.gather(*(post_event(one, seconds) for one in deliveries))


async def post_event(delivery: WebhookDelivery, seconds: float) -> Outcome:
    """Send an event once. Touches no row."""
    webhook, body = delivery.webhook, body_of(delivery.event)
    try:
        secret = unseal(webhook.secret)
        signed = signed_headers(secret, f"msg_{delivery.event_id.hex}", int(time.time()), body)
    except VaultFault as fault:
        return Outcome(error=str(fault))
    except ValueError:
        return Outcome(error="its signing secret is none; enter it again")
    headers = {**signed, "Content-Type": "application/json", "User-Agent": USER_AGENT}
    try:
        answer = await post(
            webhook.url, headers, body, networks=webhook.allowed_networks, seconds=seconds
        )
    except PostFault as fault:
        return Outcome(error=str(fault))
    if 200 <= answer.status < 300:
        return Outcome(answer.status)
    if 300 <= answer.status < 400:
        return Outcome(answer.status, f"it redirects ({answer.status}), which is not followed")
    return Outcome(answer.status, f"it answered with status {answer.status}")


def _write_down(delivery: WebhookDelivery, outcome: Outcome) -> None:
    if outcome.status is not None and outcome.ok:
        delivered(delivery, outcome.status)
    elif outcome.status == GONE:
        switch_off(delivery.webhook)
        give_up(delivery, "it answered 410: nobody wants events there", GONE)
    else:
        _again(delivery, outcome)


def _again(delivery: WebhookDelivery, outcome: Outcome) -> None:
    wait = put_off(delivery, outcome.error, outcome.status)
    logger.warning(
        "An event for webhook %s was not taken: %s%s",
        delivery.webhook.name,
        outcome.error,
        " (given up)" if wait is None else f" (again in {wait} s)",
        extra={"fields": {"event_id": str(delivery.event_id), "attempt": delivery.attempts}},
    )
    if wait is not None and wait <= SOON_SECONDS and delivery_workers.send is not None:
        try:
            delivery_workers.send(delivery.pk, wait)
        except Exception as fault:  # noqa: BLE001 - whatever the broker raises
            # Whoever looks next what is due sends it.
            logger.info("No worker can be told of a delivery: %s", type(fault).__name__)


def switch_off(webhook: HealthWebhook) -> None:
    """Send nothing more there: the receiver said so."""
    told = "The receiver answered 410 (gone)."
    rows = HealthWebhook.objects.filter(pk=webhook.pk, enabled=True)
    if watched_update(rows, enabled=False, off_because=told):
        logger.warning("Webhook %s is switched off: %s", webhook.name, told)
