"""What the front page of the admin is given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

from health.admin.banner import stale_after
from health.admin.dashboard.charts import charts
from health.admin.dashboard.live import PART, PERMISSION, live
from health.admin.dashboard.panels import LISTED, steps, tables, tiles
from health.admin.dashboard.ranges import RANGES, chosen, stretch
from health.admin.words import COLOURS, ago
from health.known import known_report
from health.models import StatusChange
from tools.selectors.figures import By, all_calls, busiest, call_series, each

INCIDENTS_SINCE: Final = timedelta(days=7)
MOST_INCIDENTS: Final = 8


def context(request: HttpRequest, given: dict[str, Any]) -> dict[str, Any]:
    """The index of the admin, with what the person may look at."""
    given["title"] = "Dashboard"
    if request.user.has_perm("health.view_healthsnapshot"):
        given.update(_health())
    if request.user.has_perm("health.view_statuschange"):
        recent = StatusChange.objects.filter(at__gte=datetime.now(UTC) - INCIDENTS_SINCE)
        given.update(may_see_incidents=True, incidents=recent[:MOST_INCIDENTS])
    if request.user.has_perm(PERMISSION):
        given.update(_calls(request))
    return given


def _health() -> dict[str, Any]:
    report = known_report()
    if report is None:
        return {"status": {"text": "not known", "colour": "warning"}}
    stale, age = report.age_seconds > stale_after(), ago(report.age_seconds)
    return {
        "status": {
            "text": "not known" if stale else report.status.value,
            "colour": "warning" if stale else COLOURS[report.status.value],
            "measured": f"It was {report.status.value} {age}, and nobody has measured since."
            if stale
            else f"Measured {age}.",
            "reasons": report.reasons,
        }
    }


def _calls(request: HttpRequest) -> dict[str, Any]:
    over = chosen(request.GET.get("range", ""))
    shown = stretch(over)
    # All of them: the slowest need not be among the busiest.
    by_tool = each(By.TOOL, shown.since, shown.until)
    by_caller = busiest(By.CALLER, shown.since, shown.until, LISTED)
    points = call_series(shown.since, shown.until, shown.step)
    return {
        "ranges": list(RANGES),
        "chosen": over.name,
        "tiles": tiles(all_calls(shown.since, shown.until), shown),
        "charts": charts(points, shown),
        "steps": steps(points, shown),
        "tables": tables(by_tool, by_caller, shown),
        "live": live(request),
        "live_part": reverse(PART),
    }
