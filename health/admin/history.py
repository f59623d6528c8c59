"""The rounds of health checks in the admin: to read, the latest first."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from typing_extensions import override
from unfold.views import ChangeList

from health.admin.dashboard.calls import CallsView
from health.admin.dashboard.incidents import IncidentsView
from health.admin.dashboard.live import LiveView
from health.admin.dashboard.status import StatusView
from health.admin.now import NowView
from health.admin.running import RunningView
from health.admin.tables import report_tables
from health.admin.timeline import HistoryChangeList, shown_timeline
from health.admin.words import MEASURED_BY, status_badge
from health.findings import HealthReport
from health.latest import UNREADABLE
from health.models import HealthSnapshot
from tools.admin.json_fields import panel, pretty
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.texts import moment

LONGEST_REASON = 120


@admin.register(HealthSnapshot)
class HealthSnapshotAdmin(ReadOnlyAdmin):
    """What each round found."""

    what_comes_here = "Workers measure the health of everything every interval."
    list_display = ("taken", "how", "reasons", "by")
    list_filter = ("status", "taken_at")
    list_before_template = "health/admin/timeline.html"
    sortable_by = ()
    fields = ("taken", "how", "tables")

    class Media:
        css = {"all": ("health/dashboard.css",)}

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return HistoryChangeList

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        shown = shown_timeline(request) if self.has_view_permission(request) else None
        return super().changelist_view(request, {**(extra_context or {}), "timeline": shown})

    @override
    def get_urls(self) -> list[URLPattern]:
        pages = (
            *(("now", NowView), ("live", LiveView), ("status", StatusView)),
            *(("calls", CallsView), ("incidents", IncidentsView), ("running", RunningView)),
        )
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            *(
                path(
                    f"{name}/",
                    self.admin_site.admin_view(view.as_view(model_admin=self)),
                    name=f"health_healthsnapshot_{name}",
                )
                for name, view in pages
            ),
            *super().get_urls(),
        ]

    @admin.display(description="Taken")
    def taken(self, row: HealthSnapshot) -> str:
        return moment(row.taken_at)

    @admin.display(description="Status")
    def how(self, row: HealthSnapshot) -> SafeString:
        return status_badge(row.status)

    @admin.display(description="Reasons")
    def reasons(self, row: HealthSnapshot) -> str:
        report = _read(row)
        if report is None:
            return "of another release"
        return Truncator("; ".join(report.reasons)).chars(LONGEST_REASON) or "-"

    @admin.display(description="Measured by")
    def by(self, row: HealthSnapshot) -> str:
        report = _read(row)
        return "-" if report is None else MEASURED_BY[report.source]

    @admin.display(description="Found")
    def tables(self, row: HealthSnapshot) -> Any:
        report = _read(row)
        if report is None:
            return panel(pretty(row.report))
        return render_to_string("health/admin/round.html", report_tables(report))


def _read(row: HealthSnapshot) -> HealthReport | None:
    try:
        return HealthReport.read(row.report)
    except UNREADABLE:
        return None
