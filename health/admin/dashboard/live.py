"""What is under way now; the part of the dashboard that renews itself."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import View
from unfold.views import UnfoldModelAdminViewMixin

from health.admin.dashboard.calls import MAY_SEE_CALLS
from health.admin.dashboard.panels import Tile
from health.admin.running import QUERIES, UNLOGGED, WAITING, place
from health.conf import QUEUES
from tools.admin.breakers import PAGE as BREAKERS
from tools.admin.request_log import addresses as log
from tools.admin.texts import plural
from tools.selectors.live import MOST_COUNTED, calls_under_way
from tools.services.breaker_status import BreakerState, ShownBreaker
from tools.services.live_load import Load, live_status

LIVE_PART: Final = "admin:health_healthsnapshot_live"
UNKNOWN: Final = "not known"
NO_REDIS: Final = "Redis cannot be reached"


class LiveView(UnfoldModelAdminViewMixin, View):
    """The tiles alone, to be put in place of those on the page."""

    title = "Now"
    permission_required = MAY_SEE_CALLS

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return render(request, "health/admin/dashboard/live.html", {"live": live(request)})


def live(request: HttpRequest) -> list[Tile]:
    """What runs and what waits; a number leads only where the person may go."""
    found = live_status(QUEUES)
    may_see_breakers = request.user.has_perm("tools.view_upstreamserver")
    load = found.load if found else None
    breakers = found.breakers if found else None
    return [
        _calls(),
        _queries(load),
        _queue(load),
        _backlog(load),
        _breakers(breakers, reverse(BREAKERS) if may_see_breakers else ""),
    ]


def _calls() -> Tile:
    running = calls_under_way()
    shown = f"{running:,}" + ("+" if running >= MOST_COUNTED else "")
    return Tile("Running calls", shown, "in all processes", log.running())


def _queries(load: Load | None) -> Tile:
    page = place(QUERIES)
    if load is None:
        return Tile("Running queries", UNKNOWN, NO_REDIS, page, bad=True)
    return Tile("Running queries", f"{load.queries:,}", "of pipelines", page)


def _queue(load: Load | None) -> Tile:
    page = place(WAITING)
    if load is None:
        return Tile("Waiting", UNKNOWN, NO_REDIS, page, bad=True)
    waiting = [f"{name} {depth:,}" for name, depth in load.waiting.items() if depth]
    return Tile("Waiting", f"{load.depth:,}", ", ".join(waiting) or "in no queue", page)


def _backlog(load: Load | None) -> Tile:
    page = place(UNLOGGED)
    if load is None:
        return Tile("Not yet logged", UNKNOWN, NO_REDIS, page, bad=True)
    return Tile("Not yet logged", f"{load.backlog:,}", "events on their way to the log", page)


def _breakers(found: list[ShownBreaker] | None, page: str) -> Tile:
    if found is None:
        return Tile("Breakers", UNKNOWN, NO_REDIS, page, bad=True)
    unwell = [one for one in found if one.snapshot.state is not BreakerState.CLOSED]
    if not unwell:
        return Tile("Breakers", "all closed", plural(len(found), "service"), page)
    return Tile("Breakers", f"{len(unwell)} not closed", _named(unwell), page, bad=True)


def _named(unwell: list[ShownBreaker]) -> str:
    return ", ".join(f"{one.snapshot.service_name} {one.snapshot.state.value}" for one in unwell)
