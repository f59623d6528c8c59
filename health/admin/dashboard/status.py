"""How the service is and why; the part of the dashboard that nobody may read late."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View
from unfold.views import UnfoldModelAdminViewMixin

from health.admin.banner import stale_after
from health.admin.words import COLOURS, ago, anchor
from health.findings import HealthReport
from health.known import known_report

STATUS_PART: Final = "admin:health_healthsnapshot_status"
MAY_SEE_STATUS: Final = "health.view_healthsnapshot"


class StatusView(UnfoldModelAdminViewMixin, View):
    """The panel alone, to be put in place of the one on the page."""

    title = "Status"
    permission_required = MAY_SEE_STATUS

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return render(request, "health/admin/dashboard/status.html", {"status": latest_status()})


def latest_status() -> dict[str, Any]:
    """What was measured last, and when."""
    report = known_report()
    return {"text": "not known", "colour": "warning"} if report is None else status(report)


def status(report: HealthReport) -> dict[str, Any]:
    """What a report says of this moment: nothing when it is too old."""
    stale, age = report.age_seconds > stale_after(), ago(report.age_seconds)
    return {
        "text": "not known" if stale else report.status.value,
        "colour": "warning" if stale else COLOURS[report.status.value],
        "measured": f"It was {report.status.value} {age}, and nobody has measured since."
        if stale
        else f"Measured {age}.",
        "reasons": [(f"{subject}: {told}", anchor(subject)) for subject, told in report.amiss],
        "stale": stale,
    }
