"""What docs/how-to/watch-health.md tells receivers to do works."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

from health.models import StatusChange
from health.webhooks.deliveries import MOST_ATTEMPTS, WAITS
from health.webhooks.events import body_of, changed_event
from health.webhooks.signing import new_secret, signed_headers
from tests.project.pages import PROJECT, fenced, read

PAGE = read(PROJECT / "docs" / "how-to" / "watch-health.md")


def is_genuine() -> Any:
    """The function on the page."""
    names: dict[str, Any] = {}
    exec(fenced(PAGE, "python")[0], names)  # noqa: S102 - that it runs is what is tested
    return names["is_genuine"]


def test_function_on_the_page_tells_genuine_events_from_others() -> None:
    genuine, secret, now = is_genuine(), new_secret(), int(time.time())
    body = b'{"type":"health.changed"}'
    headers = signed_headers(secret, "msg_1", now, body)
    assert genuine(secret, headers, body)
    assert not genuine(secret, headers, body + b" ")
    assert not genuine(new_secret(), headers, body)
    assert not genuine(secret, {**headers, "webhook-id": "msg_2"}, body)
    assert not genuine(secret, signed_headers(secret, "msg_1", now - 600, body), body)


def test_event_on_the_page_is_as_it_is_sent() -> None:
    shown = json.loads(fenced(PAGE, "json")[0])
    about = shown["data"]
    change = StatusChange(
        at=datetime.fromisoformat(shown["timestamp"]),
        **{key: about[key] for key in ("subject", "name", "before", "after", "reason")},
    )
    assert json.loads(body_of(changed_event(change, about["service"], about["status"]))) == shown


def test_waits_on_the_page_are_those_of_the_code() -> None:
    *first, last = (str(wait) for wait in WAITS)
    assert f"tried again after {', '.join(first)} and {last} s" in PAGE
    assert MOST_ATTEMPTS == 6
