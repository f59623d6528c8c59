"""What workers do for health: rounds of checks, events for webhooks, and tidying up."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from celery import shared_task
from django.conf import settings

from health import record
from health.rounds import make_round
from tools.execution.background import background

# A message that comes later finds that somebody else has sent it.
LATE_SECONDS: Final = 60
MOST_BATCHES: Final = 10


@shared_task(ignore_result=True, acks_late=False)
def check_health() -> None:
    """Make a round of all checks."""
    background.run(make_round)


@shared_task(ignore_result=True)
def prune_health() -> int:
    """Remove snapshots that outlived their retention."""
    return record.prune()


@shared_task(ignore_result=True)
def send_delivery(key: int) -> None:
    """Send one event to a webhook, if it is due."""
    from health.webhooks.sending import send

    send([key])


@shared_task(ignore_result=True)
def send_deliveries() -> int:
    """Send what is due to webhooks: what messages were lost of, and what workers died over."""
    from health.webhooks.sending import send_due

    sent = 0
    for _ in range(MOST_BATCHES):
        batch = send_due()
        sent += batch
        if not batch:
            break
    return sent


def tell_workers(key: int, wait: int) -> None:
    """Have a worker send an event after some seconds.

    Raises:
        Exception: whatever the broker raises.
    """
    import_module(settings.CELERY_APPLICATION)
    send_delivery.apply_async(
        (key,),
        countdown=wait,
        expires=wait + LATE_SECONDS,
        retry_policy={"max_retries": 1, "interval_start": 0},
    )


def ask_for_round(seconds: int) -> None:
    """Have a worker make a round of all checks, unless none takes it up within `seconds`.

    Raises:
        Exception: whatever the broker raises.
    """
    import_module(settings.CELERY_APPLICATION)
    check_health.apply_async(expires=seconds, retry_policy={"max_retries": 1, "interval_start": 0})
