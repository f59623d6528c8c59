"""What the front page of the admin is given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

from health.admin.banner import stale_after
from health.admin.dashboard.charts import charts
from health.admin.dashboard.live import PART, PERMISSION, live
from health.admin.dashboard.panels import steps, tables, tiles
from health.admin.dashboard.ranges import RANGES, chosen, stretch
from health.admin.words import COLOURS, ago
from health.known import known_report
from health.models import StatusChange
from tools.selectors.figures import By, call_figures, call_series

INCIDENTS_SINCE: Final = timedelta(days=7)
MOST_INCIDENTS: Final = 8
# All tools are looked at: the slowest need not be among the busiest.
MOST_TOOLS: Final = 1000


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
    by_tool = call_figures(shown.since, shown.until, by=By.TOOL, most=MOST_TOOLS)
    by_caller = call_figures(shown.since, shown.until, by=By.CALLER)
    points = call_series(shown.since, shown.until, shown.step)
    return {
        "ranges": list(RANGES),
        "chosen": over.name,
        "tiles": tiles(by_tool.total, shown),
        "charts": charts(points, shown),
        "steps": steps(points, shown),
        "tables": tables(by_tool.groups, by_caller.groups, shown),
        "live": live(request),
        "live_part": reverse(PART),
    }
