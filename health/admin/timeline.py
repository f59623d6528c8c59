"""The course of health above the list of rounds: a strip for everything that is watched, over a chosen time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from typing_extensions import override

from health.admin.dashboard.ticks import Tick, ticks
from health.admin.words import lasted
from health.conf import health_settings
from health.models import Subject
from health.timeline import Course, timeline
from tools.admin.read_only import LongChangeList

# In the address of the list.
SPAN: Final = "span"
MAY_SEE_CHANGES: Final = "health.view_statuschange"
# The strips of a service with hundreds of dependencies are not read; the worst come first.
MOST_ROWS: Final = 40
LOOKS: Final = {
    **dict.fromkeys(("healthy", "connected"), "well"),
    **dict.fromkeys(("degraded", "unknown"), "worse"),
    "unavailable": "bad",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A length that can be chosen, and in how many steps it is shown."""

    name: str
    length: timedelta
    steps: int


SPANS: Final = (
    Span("1h", timedelta(hours=1), 30),
    Span("6h", timedelta(hours=6), 36),
    Span("24h", timedelta(hours=24), 48),
    Span("7d", timedelta(days=7), 56),
    Span("30d", timedelta(days=30), 60),
)
DEFAULT: Final = "24h"


@dataclass(frozen=True, slots=True)
class Cell:
    """One step: how it looks, what it says, and where its changes are if it was not well."""

    look: str
    told: str
    link: str


@dataclass(frozen=True, slots=True)
class Row:
    """One thing with its strip. `told` says how long it was not well, `link` leads to its changes."""

    about: str
    cells: Sequence[Cell]
    well: str
    told: str
    link: str


class HistoryChangeList(LongChangeList):
    """The rounds. The time of the strips is no filter of theirs."""

    @override
    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = super().get_filters_params(params)
        found.pop(SPAN, None)
        return found


def shown_timeline(request: HttpRequest) -> dict[str, Any]:
    """What the template above the list draws."""
    spans = _kept_spans()
    chosen = spans.get(request.GET.get(SPAN, ""), spans[DEFAULT])
    found = timeline(chosen.length, chosen.steps)
    with_links = request.user.has_perm(MAY_SEE_CHANGES)
    rows = [_row(one, found.moments, with_links=with_links) for one in found.courses[:MOST_ROWS]]
    return {
        "spans": [(one.name, _address(request, one), one == chosen) for one in spans.values()],
        "rows": rows,
        "more": max(0, len(found.courses) - MOST_ROWS),
        "cut_at": found.cut_at,
        "ticks": _ticks(found.moments),
        "begins": found.moments[0],
        "ends": found.moments[-1],
    }


def _kept_spans() -> dict[str, Span]:
    """Those for which rounds are kept; of others nobody knows when anything was measured."""
    kept = timedelta(days=health_settings().snapshot_days)
    return {one.name: one for one in SPANS if one.length <= kept}


def _address(request: HttpRequest, span: Span) -> str:
    """The list as it is filtered now, from its first page, with strips of that length."""
    others = {name: value for name, value in request.GET.items() if name not in {SPAN, "p"}}
    return f"?{urlencode({**others, SPAN: span.name})}"


def _row(course: Course, moments: Sequence[datetime], *, with_links: bool) -> Row:
    about = (
        "Service"
        if course.subject == Subject.SERVICE
        else f"{course.subject.title()} {course.name}"
    )
    changes: Mapping[str, str] = {"subject__exact": course.subject, "name": course.name}
    cells = [
        _cell(status, begins, ends, changes if with_links else {})
        for status, (begins, ends) in zip(course.steps, pairwise(moments), strict=True)
    ]
    told = f"not well for {lasted(course.unwell.total_seconds())}" if course.unwell else ""
    link = _changes(moments[0], moments[-1], changes) if with_links and told else ""
    return Row(about, cells, _percent(course.well), told, link)


def _cell(status: str, begins: datetime, ends: datetime, changes: Mapping[str, str]) -> Cell:
    look = LOOKS.get(status, "none")
    told = f"{_written(begins)} to {_written(ends)}: {status or 'not measured'}"
    leads = changes and look not in {"well", "none"}
    return Cell(look, told, _changes(begins, ends, changes) if leads else "")


def _changes(begins: datetime, ends: datetime, changes: Mapping[str, str]) -> str:
    times = {"at__gte": begins.isoformat(), "at__lt": ends.isoformat()}
    return f"{reverse('admin:health_statuschange_changelist')}?{urlencode({**changes, **times})}"


def _percent(share: float | None) -> str:
    """A share in percent; what is nearly all is never written as all."""
    if share is None:
        return "-"
    return "100 %" if share == 1 else f"{min(100 * share, 99.99):.2f} %"


def _ticks(moments: Sequence[datetime]) -> list[Tick]:
    return ticks(moments[0], moments[-1] - moments[0])


def _written(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"
