"""Addresses of the calls behind a number: the request log, filtered."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

PAGE: Final = "admin:tools_toolrequest_changelist"
FAILED: Final = {"status__in": "failure,timeout"}


def calls(since: datetime, until: datetime, **filters: str) -> str:
    """The calls that came in from `since` until before `until`, narrowed by fields of the log."""
    times = {"received_at__gte": since.isoformat(), "received_at__lt": until.isoformat()}
    return f"{reverse(PAGE)}?{urlencode({**filters, **times})}"


def running() -> str:
    """The calls that have not ended."""
    return f"{reverse(PAGE)}?{urlencode({'finished_at__isnull': 'True'})}"
