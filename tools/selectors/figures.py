"""Figures of calls over a stretch of time, added up from what is kept per minute and per hour.

A row of figures belongs to a stretch when its minute begins in it, or its hour once it is too old to be
kept by the minute (`MINUTES_KEPT`). So the ends of a stretch are exact to the minute, or to the hour; ask
with `aligned` times, and neighbouring stretches count every call once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from django.db.models import Q, QuerySet, Sum

from tools.figures import NUMBERS, CallStatistics, Gathered
from tools.models import CallFigures
from tools.models.figures import EVERY_CALLER, FRESH, LENGTHS
from tools.selectors.joined import Joined

MINUTES_KEPT: Final = timedelta(hours=48)
HOURS_KEPT: Final = timedelta(days=400)
MOST_GROUPS: Final = 50
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
_AT_ONCE: Final = 2000


class By(StrEnum):
    """What calls can be told apart by."""

    TOOL = "tool"
    SOURCE = "source"
    DEPENDENCY = "dependency"
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which calls to look at; None means all."""

    tools: Collection[str] | None = None
    source: str | None = None
    dependency: str | None = None
    caller: str | None = None

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.tools is not None:
            rows = rows.filter(tool__in=sorted(self.tools))
        for name in ("source", "dependency", "caller"):
            value = getattr(self, name)
            if value is not None:
                rows = rows.filter(**{name: value})
        return rows


EVERY: Final = Chosen()


@dataclass(frozen=True, slots=True)
class Figures:
    """All chosen calls of a stretch, and by group the busiest, most calls first.

    Calls of what is no tool, or of a tool that depends on nothing, are in no such group.
    """

    total: CallStatistics
    groups: Mapping[str, CallStatistics] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """One step of a series."""

    begins_at: datetime
    calls: CallStatistics


def aligned(moment: datetime, now: datetime) -> datetime:
    """The nearest moment that a stretch can begin or end at: half a minute away at most, or half an hour."""
    step = _MINUTE if moment > now - MINUTES_KEPT + _HOUR else _HOUR
    return _floor(moment + step / 2, step)


def call_figures(
    since: datetime,
    until: datetime,
    *,
    by: By | None = None,
    chosen: Chosen = EVERY,
    most: int = MOST_GROUPS,
) -> Figures:
    """What happened to the calls of the minutes that begin from `since` until before `until`."""
    by_caller = by is By.CALLER or chosen.caller is not None
    rows = chosen.narrow(figures_between(since, until, by_caller=by_caller))
    listed = _busiest(rows, by, most) if by else []
    groups = {name: Gathered() for name in listed}
    rest = Gathered()
    for group, *told in _read(rows, by or By.TOOL, "tool", "status", "code"):
        groups.get(group, rest).add(*told)
    total = Gathered()
    for gathered in (rest, *groups.values()):
        total.include(gathered)
    minutes = (until - since) / _MINUTE
    return Figures(
        total.statistics(minutes),
        {name: gathered.statistics(minutes) for name, gathered in groups.items()},
    )


def call_series(
    since: datetime, until: datetime, step: timedelta, *, chosen: Chosen = EVERY
) -> list[Point]:
    """The same step by step, those without calls included; the first begins at or before `since`.

    Steps are whole minutes; whole hours where minutes are no longer kept. Tools are not told apart.
    """
    first = _floor(since, step)
    gathered = {first + step * place: Gathered() for place in range(-((first - until) // step))}
    rows = figures_between(first, until, by_caller=chosen.caller is not None)
    for begins_at, *told in _read(chosen.narrow(rows), "begins_at", "status", "code"):
        gathered[_floor(begins_at, step)].add("", *told)
    return [
        # The last step may not be over yet.
        Point(begin, found.statistics((min(begin + step, until) - begin) / _MINUTE))
        for begin, found in gathered.items()
    ]


def figures_between(since: datetime, until: datetime, *, by_caller: bool = False) -> QuerySet[Any]:
    """Rows in which every call of the stretch is counted once, with callers told apart or not."""
    rows = CallFigures.objects.filter(
        seconds__in=LENGTHS, begins_at__gte=since, begins_at__lt=until
    )
    # Those of batches are by caller, and serve both.
    together = Q(caller=EVERY_CALLER)
    return rows.filter(~together if by_caller else together | Q(seconds=FRESH)).order_by()


def _busiest(rows: QuerySet[Any], by: By, most: int) -> list[str]:
    counted = rows.exclude(**{by.value: ""}).values(by.value).annotate(sum=Sum("calls"))
    return list(counted.order_by("-sum", by.value).values_list(by.value, flat=True)[:most])


def _read(rows: QuerySet[Any], *alike: str) -> Iterator[Any]:
    """The values of `alike`, the sums of all numbers, and the sketches, of rows that have those in common.

    One statement, so that what is added up meanwhile is seen once.
    """
    sums = {f"sum_{name}": Sum(name) for name in NUMBERS}
    found = rows.values_list(*alike).annotate(**sums, sketches=Joined("sketch"))
    for row in found.iterator(chunk_size=_AT_ONCE):
        last = len(alike)
        yield *row[:last], row[last:-1], row[-1] or ""


def _floor(moment: datetime, step: timedelta) -> datetime:
    return moment - (moment - _EPOCH) % step
