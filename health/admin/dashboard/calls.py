"""The calls of a stretch of time: numbers, charts and tables; a part of the dashboard that renews itself."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import View
from unfold.views import UnfoldModelAdminViewMixin

from health.admin.dashboard.charts import charts
from health.admin.dashboard.panels import LEAST_CALLS, LISTED, steps, tables, tiles
from health.admin.dashboard.ranges import RANGES, Range, chosen, stretch
from tools.admin.request_log.retention import kept_for
from tools.selectors.figures import By, all_calls, busiest, call_series
from tools.selectors.leaders import leaders

CALLS_PART: Final = "admin:health_healthsnapshot_calls"
MAY_SEE_CALLS: Final = "tools.view_toolrequest"


class CallsView(UnfoldModelAdminViewMixin, View):
    """What is told of the calls of a range, to be put in place of what is on the page."""

    title = "Calls"
    permission_required = MAY_SEE_CALLS

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return render(request, "health/admin/dashboard/figures.html", figures(_range(request)))


def calls(request: HttpRequest) -> dict[str, Any]:
    """The same with the choice of ranges, and where it is renewed from."""
    over = _range(request)
    return {
        **figures(over),
        "ranges": list(RANGES),
        "chosen": over.name,
        "calls_part": f"{reverse(CALLS_PART)}?{urlencode({'range': over.name})}",
    }


def figures(over: Range) -> dict[str, Any]:
    """All that is told of the calls of a range, up to this moment."""
    shown = stretch(over)
    by_tool = leaders(By.TOOL, shown.since, shown.until, most=LISTED, least_calls=LEAST_CALLS)
    by_caller = busiest(By.CALLER, shown.since, shown.until, LISTED)
    points = call_series(shown.since, shown.until, shown.step)
    together = all_calls(shown.since, shown.until)
    kept = kept_for(shown.since)
    return {
        "kept": f"{kept}; figures before are sums alone." if kept else "",
        "tiles": tiles(together, shown),
        "charts": charts(points, shown),
        "steps": steps(points, shown),
        "tables": tables(by_tool, by_caller, together, shown),
    }


def _range(request: HttpRequest) -> Range:
    return chosen(request.GET.get("range", ""))
