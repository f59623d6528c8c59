"""Figures of calls over a stretch of time, added up from what is kept per minute and per hour.

A row of figures belongs to a stretch when its minute begins in it, or its hour once it is too old to be
kept by the minute (`MINUTES_KEPT`). So the ends of a stretch are exact to the minute, or to the hour; ask
with `aligned` times, and neighbouring stretches count every call once. What lies between the ends is
read from sums of longer stretches (`sums`), which come to the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from django.db.models import Q, QuerySet

from tools.figures import CallStatistics, Number, Summed, statistics
from tools.models import CallFigures
from tools.models.figures import EVERY_CALLER, FRESH, LENGTHS
from tools.models.sums import QUARTER_DAY, TOGETHER
from tools.selectors.cover import floor
from tools.selectors.sums import OTHER_CALLERS, Found, added_up, gather, summed

MINUTES_KEPT: Final = timedelta(hours=48)
MOST_GROUPS: Final = 50
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_CALLS: Final = ("calls",)
_HOURS_SUMMED: Final = timedelta(days=7, hours=12)


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

    @property
    def only_tools(self) -> bool:
        """Whether nothing is chosen but tools, if that."""
        return self.source is None and self.dependency is None and self.caller is None

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
    """The nearest moment that a stretch can begin or end at.

    That is half a minute away at most; half an hour where minutes are not kept any more; and three
    hours where there are no sums of hours either, of more than a week.
    """
    step = timedelta(seconds=QUARTER_DAY)
    if moment > now - MINUTES_KEPT + _HOUR:
        step = _MINUTE
    elif moment > now - _HOURS_SUMMED:
        step = _HOUR
    return floor(moment + step / 2, step)


def call_figures(
    since: datetime,
    until: datetime,
    *,
    by: By | None = None,
    chosen: Chosen = EVERY,
    most: int = MOST_GROUPS,
) -> Figures:
    """What happened to the calls of the minutes that begin from `since` until before `until`.

    Tools are counted (`by_tool`) where calls are told apart by tool, or not at all.
    """
    found = _told_apart(since, until, by or By.TOOL, chosen)
    minutes = (until - since) / _MINUTE
    names = by in (None, By.TOOL)
    total = _all(found.values())
    tools = {name: int(one[Number.CALLS]) for (name,), one in found.items()} if names else {}
    groups = {
        name: statistics(one, minutes, {name: int(one[Number.CALLS])} if names else {})
        for name, one in (_busiest(found, most) if by else ())
    }
    return Figures(statistics(total, minutes, tools), groups)


def all_calls(since: datetime, until: datetime) -> CallStatistics:
    """All calls of a stretch, with nothing told apart: the cheapest question there is."""
    found = summed(TOGETHER, since, until, told=())
    return statistics(_all(found.values()), (until - since) / _MINUTE)


def each(
    by: By,
    since: datetime,
    until: datetime,
    names: Collection[str] | None = None,
    *,
    times: bool = True,
) -> dict[str, CallStatistics]:
    """All that are told apart, or those of these names, most calls first: calls, endings and times.

    Without `times` it costs a fraction: texts of times are what takes long to read.
    """
    found = summed(by.value, since, until, names=names, times=times, numbers=_CALLS)
    minutes = (until - since) / _MINUTE
    return {name: statistics(one, minutes) for name, one in _busiest(found, len(found))}


def busiest(by: By, since: datetime, until: datetime, most: int) -> dict[str, CallStatistics]:
    """The same of those with most calls; the times of no others are read."""
    counted = summed(by.value, since, until, times=False, numbers=_CALLS)
    counted.pop((OTHER_CALLERS,), None)
    names = [name for name, _ in _busiest(counted, most)]
    return each(by, since, until, names) if names else {}


def call_series(
    since: datetime, until: datetime, step: timedelta, *, chosen: Chosen = EVERY
) -> list[Point]:
    """The same step by step, those without calls included; the first begins at or before `since`.

    Steps are whole minutes; whole hours where minutes are no longer kept. Tools are not told apart.
    """
    first = floor(since, step)
    places = {first + step * place: Summed() for place in range(-((first - until) // step))}
    for (begins_at,), one in _by_time(first, until, step, chosen).items():
        places[floor(begins_at, step)].include(one)
    return [
        # The last step may not be over yet.
        Point(begin, statistics(found, (min(begin + step, until) - begin) / _MINUTE))
        for begin, found in places.items()
    ]


def figures_between(since: datetime, until: datetime, *, by_caller: bool = False) -> QuerySet[Any]:
    """Rows in which every call of the stretch is counted once, with callers told apart or not."""
    rows = CallFigures.objects.filter(
        seconds__in=LENGTHS, begins_at__gte=since, begins_at__lt=until
    )
    # Those of batches are by caller, and serve both.
    together = Q(caller=EVERY_CALLER)
    return rows.filter(~together if by_caller else together | Q(seconds=FRESH)).order_by()


def _told_apart(since: datetime, until: datetime, by: By, chosen: Chosen) -> Found:
    if chosen.only_tools and (chosen.tools is None or by is By.TOOL):
        return summed(by.value, since, until, names=chosen.tools)
    return _figures(since, until, by.value, chosen)


def _by_time(since: datetime, until: datetime, step: timedelta, chosen: Chosen) -> Found:
    if chosen == EVERY:
        return summed(TOGETHER, since, until, told=("begins_at",), step=step)
    return _figures(since, until, "begins_at", chosen)


def _figures(since: datetime, until: datetime, told: str, chosen: Chosen) -> Found:
    """From figures alone: no sums tell by two things at a time."""
    by_caller = told == By.CALLER or chosen.caller is not None
    rows = chosen.narrow(figures_between(since, until, by_caller=by_caller))
    return gather(added_up(rows, [told]), 1)


def _busiest(found: Found, most: int) -> list[tuple[str, Summed]]:
    named = [(name, one) for (name,), one in found.items() if name]
    return sorted(named, key=lambda item: (-item[1][Number.CALLS], item[0]))[:most]


def _all(many: Iterable[Summed]) -> Summed:
    total = Summed()
    for one in many:
        total.include(one)
    return total
