"""The page of the current health, and its button that has everything checked now."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from health.admin.dashboard.status import status
from health.admin.tables import report_tables
from health.findings import HealthReport, Source
from health.known import asked_after, known_report
from health.models import HealthSnapshot, StatusChange

logger = logging.getLogger(__name__)

PAGE: Final = "admin:health_healthsnapshot_now"
RECENT: Final = timedelta(hours=24)
MOST_CHANGES: Final = 50
# A round lasts up to six seconds, and a worker may be busy before.
PATIENCE_SECONDS: Final = 15
# Whether a check may be asked for: it adds to the history.
MAY_CHECK: Final = "health.add_healthsnapshot"


class NowView(UnfoldModelAdminViewMixin, TemplateView):
    """The latest report of all processes."""

    title = "Health now"
    permission_required = "health.view_healthsnapshot"
    template_name = "health/admin/now.html"
    request: HttpRequest

    @override
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "part" in request.GET:
            # Only what changes while a check is under way.
            return render(request, "health/admin/now_report.html", now(request))
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Let a worker make a round now."""
        if not request.user.has_perm(MAY_CHECK):
            raise PermissionDenied
        asked = time.time()
        try:
            _ask_for_round()
        except Exception as fault:  # noqa: BLE001 - whatever the broker raises
            logger.warning("No round of checks can be asked for: %s", type(fault).__name__)
            messages.error(
                request,
                "No worker can be asked: Redis cannot be reached. Start it, then try again.",
            )
            return redirect(PAGE)
        return redirect(f"{reverse(PAGE)}?{urlencode({'asked': f'{asked:.3f}'})}")

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **now(self.request)}


def now(request: HttpRequest) -> dict[str, Any]:
    """The context of the page."""
    report = known_report()
    asked = _asked(request)
    return {
        **({} if report is None else _found(report, request)),
        "check": _check(report, asked),
        "follow": f"{reverse(PAGE)}?{urlencode({'part': '', 'asked': f'{asked or 0:.3f}'})}",
        "changes": StatusChange.objects.filter(at__gte=datetime.now(UTC) - RECENT)[:MOST_CHANGES],
        "may_check": request.user.has_perm(MAY_CHECK),
        "may_see_changes": request.user.has_perm("health.view_statuschange"),
    }


def _found(report: HealthReport, request: HttpRequest) -> dict[str, Any]:
    """The tables, without their colours if nobody knows whether it is still so."""
    tables, told = report_tables(report, request), status(report)
    if told["stale"]:
        for row in (*tables["dependencies"], *tables["pipelines"]):
            row["colour"] = ""
    return {**tables, "status": told}


def _check(report: HealthReport | None, asked: float | None) -> str:
    """How far the round is that was asked for: empty without one, waiting, done or late."""
    if asked is None:
        return ""
    if _is_round_since(report, asked) or _round_is_kept_since(asked):
        return "done"
    return "waiting" if time.time() - asked < PATIENCE_SECONDS else "late"


def _is_round_since(report: HealthReport | None, asked: float) -> bool:
    return report is not None and asked_after(report, asked) and report.source is Source.SNAPSHOT


def _round_is_kept_since(asked: float) -> bool:
    """While something is amiss, processes measure again each second: the latest report is soon no round."""
    later = HealthSnapshot.objects.filter(taken_at__gt=datetime.fromtimestamp(asked, UTC))
    return later.filter(report__source=Source.SNAPSHOT.value).exists()


def _asked(request: HttpRequest) -> float | None:
    try:
        asked = float(request.GET.get("asked", ""))
    except ValueError:
        return None
    # Neither one of long ago, from a page that stayed open, nor of the future.
    return asked if 0 <= time.time() - asked < 600 else None


def _ask_for_round() -> None:
    # Pages are loaded by processes that never ask for one.
    from health.tasks import ask_for_round

    ask_for_round(PATIENCE_SECONDS)
