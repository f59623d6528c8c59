"""What was not well of late; the part of the dashboard that tells incidents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import View
from unfold.views import UnfoldModelAdminViewMixin

from health.admin.words import COLOURS, lasted
from health.incidents import RECENT, Incident, recent_incidents
from health.models import Subject

INCIDENTS_PART: Final = "admin:health_healthsnapshot_incidents"
MAY_SEE_INCIDENTS: Final = "health.view_statuschange"
MOST_INCIDENTS: Final = 8


class IncidentsView(UnfoldModelAdminViewMixin, View):
    """The panel alone, to be put in place of the one on the page."""

    title = "Recent incidents"
    permission_required = MAY_SEE_INCIDENTS

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return render(request, "health/admin/dashboard/incidents.html", {"incidents": incidents()})


@dataclass(frozen=True, slots=True)
class Line:
    """One incident. `told` is how long it was and how often, `changes` the way to all that belong to it."""

    key: str
    about: str
    one: Incident
    colour: str
    told: str
    changes: str


def incidents() -> dict[str, Any]:
    """The latest incidents, and whether there are more."""
    now = datetime.now(UTC)
    recent = recent_incidents(MOST_INCIDENTS, now)
    lines = [_line(one, now) for one in recent.incidents]
    # A whole minute: the same address is the same content while nothing happens.
    since = recent.cut_at or (now - RECENT).replace(second=0, microsecond=0)
    return {
        "lines": lines,
        "more": recent.more,
        "all_of_them": _changes(at__gte=since.isoformat()),
        "cut_at": recent.cut_at,
    }


def _line(one: Incident, now: datetime) -> Line:
    about = "Service" if one.subject == Subject.SERVICE else f"{one.subject.title()} {one.name}"
    # The same one after a renewal, whatever stands above it then.
    key = f"{about} {one.first}"
    changes = _changes_of(one) if one.times > 1 else ""
    return Line(key, about, one, COLOURS.get(one.worst, ""), _told(one, now), changes)


def _changes_of(one: Incident) -> str:
    """The list of changes from its beginning to its end, as far as they are known."""
    times = {}
    if one.began is not None:
        times["at__gte"] = one.began.isoformat()
    if one.ended is not None:
        # The change it ended with is one of them.
        times["at__lt"] = (one.ended + timedelta(microseconds=1)).isoformat()
    return _changes(name=one.name, subject__exact=one.subject, **times)


def _changes(**filters: str) -> str:
    return f"{reverse('admin:health_statuschange_changelist')}?{urlencode(filters)}"


def _told(one: Incident, now: datetime) -> str:
    length = one.lasted(now)
    often = "" if one.times == 1 else f"{one.times:,} times "
    if length is not None:
        return f"{often}{'within' if often else 'for'} {lasted(length.total_seconds())}"
    return often.strip()
