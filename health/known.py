"""The latest report for code without an event loop: pages and commands."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
from django.db import Error as DatabaseError

from health.findings import HealthReport
from health.latest import KEY, UNREADABLE
from health.models import CurrentHealth
from tools.guards.redis import RedisLink
from tools.services.over_redis import RedisDown, glance


def known_report() -> HealthReport | None:
    """The latest that some process published or wrote down; None when neither can be read."""
    found = [one for one in (published(), written_down()) if one is not None]
    return max(found, key=lambda one: one.checked_at, default=None)


def published() -> HealthReport | None:
    """The one in Redis."""

    async def work(link: RedisLink) -> str | None:
        text: str | None = await link.command("GET", KEY)
        return text

    try:
        text = glance(work)
        return None if text is None else HealthReport.read(orjson.loads(text))
    except (RedisDown, *UNREADABLE):
        return None


def written_down() -> HealthReport | None:
    """The one in the database, at the price of one row."""
    try:
        report = CurrentHealth.objects.values_list("report", flat=True).first()
        return None if report is None else HealthReport.read(report)
    except (DatabaseError, *UNREADABLE):
        return None


def asked_after(report: HealthReport | None, moment: float) -> bool:
    """Whether a report is of a measurement that ended after `moment`, in seconds since 1970."""
    return report is not None and report.checked_at > datetime.fromtimestamp(moment, UTC)
