"""Sends from the process that recorded a change: there may be no worker, which may be the change.

One thread at a time, which gives a receiver a few seconds; what it does not get done is left to the workers.
"""

from __future__ import annotations

import logging
from typing import Final

from django.db import Error as DatabaseError
from django.db import connection

from health.probe import Probe
from health.webhooks.sending import send_due

logger = logging.getLogger(__name__)

SECONDS: Final = 4.0
MOST_BATCHES: Final = 10
_courier: Final[Probe[None]] = Probe("health-webhooks")


def send_from_here() -> None:
    """Send what is due, in a thread, unless one is at it."""
    _courier.submit(send_now)


def send_now() -> None:
    """Send what is due. Nothing that goes wrong gets beyond the log."""
    try:
        # Again for what was recorded meanwhile.
        for _ in range(MOST_BATCHES):
            if not send_due(SECONDS):
                break
    except DatabaseError as fault:
        logger.info("Events for webhooks wait: %s", type(fault).__name__)
    except Exception:
        logger.exception("Events for webhooks were not sent because of a bug")
    finally:
        connection.close()
