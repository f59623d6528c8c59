"""What receivers are told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from health.models import StatusChange
from tools.contracts import wire_time

CHANGED: Final = "health.changed"
TEST: Final = "health.test"


def changed_event(change: StatusChange, service: str, status: str) -> dict[str, Any]:
    """The event of a change; `status` is that of the whole service after it."""
    return {
        "type": CHANGED,
        "timestamp": wire_time(change.at),
        "data": {
            "subject": change.subject,
            "name": change.name,
            "before": change.before,
            "after": change.after,
            "reason": change.reason,
            "service": service,
            "status": status,
        },
    }


def trial_event(at: datetime, service: str, status: str) -> dict[str, Any]:
    """An event that says of itself that nothing has changed."""
    return {
        "type": TEST,
        "timestamp": wire_time(at),
        "data": {
            "subject": "service",
            "name": "service",
            "before": status,
            "after": status,
            "reason": "A test that an administrator sent. Nothing has changed.",
            "service": service,
            "status": status,
        },
    }


def body_of(event: Mapping[str, Any]) -> bytes:
    """The event as it is sent."""
    return orjson.dumps(event)
