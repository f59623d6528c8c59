"""The notice on every page of the admin while the service is not well."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from health.admin.words import ago
from health.findings import HealthReport
from health.known import written_down
from health.status import HealthStatus
from tools.conf import ServiceSettings
from tools.errors import Starting
from tools.execution.runtime import current

MOST_REASONS: Final = 4
# A report this many intervals old is not of now any more.
STALE_INTERVALS: Final = 3
LEAST_STALE_SECONDS: Final = 90


def context(request: HttpRequest) -> dict[str, Any]:
    """What every page is given; nothing is read before a page shows it."""
    return {"health_notice": SimpleLazyObject(partial(notice, request))}


def notice(request: HttpRequest) -> dict[str, Any] | None:
    """Status, reasons and age of a report that is not well, or too old to be believed."""
    now, front = reverse("admin:health_healthsnapshot_now"), reverse("admin:index")
    may_look = request.user.has_perm("health.view_healthsnapshot")
    if request.path == now or (request.path == front and may_look):
        # The page itself says all of it.
        return None
    report = written_down()
    if report is None:
        return None
    stale = report.age_seconds > stale_after()
    if report.status is HealthStatus.HEALTHY and not stale:
        return None
    return {
        "status": report.status.value,
        "grave": report.status is HealthStatus.UNAVAILABLE,
        "reasons": _reasons(report),
        "age": ago(report.age_seconds),
        "stale": stale,
        "link": now if may_look else "",
    }


def stale_after() -> float:
    """The age at which a report tells nothing of now."""
    try:
        settings = current().settings
    except Starting:
        settings = ServiceSettings()
    return max(LEAST_STALE_SECONDS, STALE_INTERVALS * settings.monitoring_health_check_interval)


def _reasons(report: HealthReport) -> list[str]:
    found = report.reasons
    more = len(found) - MOST_REASONS
    return [*found[:MOST_REASONS], *([f"and {more} more"] if more > 0 else [])]
