"""Adds figures up: those of batches into minutes, minutes into hours, all of them into totals and sums.

Each step is a short transaction that moves figures from one place to another, so readers see each
call once at any moment, and whoever dies leaves nothing half done. One process at a time does this.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Sum

from tools.figures import NUMBERS, Tally
from tools.models import CallFigures, CallTotals, Tool
from tools.models.figures import ALIKE, EVERY_CALLER, FRESH, HOUR, MINUTE, TOTAL_ALIKE
from tools.models.sums import SUM_LENGTHS
from tools.selectors.figures import MINUTES_KEPT
from tools.selectors.sums import HOURS_KEPT, OTHER_CALLERS
from tools.services.sum_figures import (
    Late,
    add_late,
    remove_sums,
    sum_next,
    sum_previous,
)

# Rows per transaction: on SQLite the journal waits for its end.
AT_ONCE: Final = 1000
# Callers may be as many as there are addresses; this many are told apart in an hour that is past.
CALLERS_KEPT: Final = 100
# What is left of old figures to sum after an upgrade is done bit by bit.
OLD_SECONDS: Final = 20.0
LOCK: Final = 0x_F19_0E5

STRETCH: Final = ("seconds", "begins_at", *ALIKE)
_IN_TOTALS: Final = tuple(ALIKE.index(name) for name in TOTAL_ALIKE)
_CALLER: Final = ALIKE.index("caller")

# What was counted: numbers, histogram, and the sketch where there is one.
_Counted = tuple[Any, ...]
_Moved = tuple[tuple[Any, ...], _Counted]
_Taken = tuple[int, tuple[Any, ...], _Counted]
_Step = Callable[[datetime], int]


def fold_figures(now: datetime | None = None) -> int:
    """Add up what there is, until nothing is left; how many rows were taken up."""
    moment = now or datetime.now(UTC)
    coming = [partial(sum_next, seconds) for seconds in SUM_LENGTHS]
    outdated = [partial(remove_sums, seconds) for seconds in SUM_LENGTHS]
    # Sums of minutes come before those are added up further.
    taken = _run([_fold_fresh, *coming, _fold_minutes], moment)
    earlier = [partial(sum_previous, seconds) for seconds in SUM_LENGTHS]
    taken += _run(earlier, moment, time.monotonic() + OLD_SECONDS)
    return taken + _run([_prune, *outdated, _retire], moment)


def _run(steps: Sequence[_Step], now: datetime, limit: float = math.inf) -> int:
    """Take each step until there is nothing left for it; how many rows were taken up."""
    taken = 0
    for step in steps:
        while time.monotonic() < limit and (moved := _alone(step, now)):
            taken += moved
    return taken


def _alone(step: _Step, now: datetime) -> int:
    """Take one step unless another process is at it, which will have done it."""
    with transaction.atomic():
        # SQLite has one writer anyway.
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
                if not cursor.fetchone()[0]:
                    return 0
        return step(now)


def _fold_fresh(now: datetime) -> int:
    rows = _take(CallFigures.objects.filter(seconds=FRESH), ("begins_at", *ALIKE))
    minutes_from = _hour(now - MINUTES_KEPT)
    moved: list[_Moved] = []
    totals: list[_Moved] = []
    late: list[Late] = []
    for _, (begins_at, *alike), tally in rows:
        late.append((begins_at, tuple(alike), tally[0], tally[2]))
        old = begins_at < minutes_from
        stretch = (HOUR, _hour(begins_at)) if old else (MINUTE, begins_at)
        moved.append(((*stretch, *alike), tally))
        alike[_CALLER] = EVERY_CALLER
        moved.append(((*stretch, *alike), tally))
        totals.append((tuple(alike[place] for place in _IN_TOTALS), tally))
    _add(CallFigures, STRETCH, moved)
    _add(CallTotals, TOTAL_ALIKE, totals)
    add_late(late)
    return _remove(CallFigures, rows)


def _fold_minutes(now: datetime) -> int:
    """Some rows of the earliest hour that is no longer kept by the minute."""
    old = CallFigures.objects.filter(seconds=MINUTE, begins_at__lt=_hour(now - MINUTES_KEPT))
    first = old.order_by("begins_at").values_list("begins_at", flat=True).first()
    if first is None:
        return 0
    hour = _hour(first)
    until = hour + timedelta(hours=1)
    kept = _busiest_callers(hour, until)
    rows = _take(old.filter(begins_at__lt=until), ("begins_at", *ALIKE))
    moved: list[_Moved] = []
    for _, (_begins_at, *alike), tally in rows:
        if alike[_CALLER] not in kept:
            alike[_CALLER] = OTHER_CALLERS
        moved.append(((HOUR, hour, *alike), tally))
    _add(CallFigures, STRETCH, moved)
    return _remove(CallFigures, rows)


def _busiest_callers(hour: datetime, until: datetime) -> set[str]:
    """Over the rows that are moved and those that were: the same whichever step asks. And all together."""
    rows = CallFigures.objects.filter(
        seconds__in=(MINUTE, HOUR), begins_at__gte=hour, begins_at__lt=until
    ).exclude(caller__in=(EVERY_CALLER, OTHER_CALLERS))
    counted = rows.order_by().values("caller").annotate(sum=Sum("calls"))
    busiest = counted.order_by("-sum", "caller").values_list("caller", flat=True)[:CALLERS_KEPT]
    return {EVERY_CALLER, *busiest}


def _prune(now: datetime) -> int:
    old = CallFigures.objects.filter(seconds=HOUR, begins_at__lt=now - HOURS_KEPT)
    ids = list(old.order_by("begins_at").values_list("pk", flat=True)[:AT_ONCE])
    CallFigures.objects.filter(pk__in=ids).delete()
    return len(ids)


def _retire(now: datetime) -> int:
    """Totals of tools that were deleted lose their name, so that names do not gather for ever."""
    gone = CallTotals.objects.exclude(tool="").exclude(tool__in=Tool.objects.values("name"))
    rows = _take(gone, TOTAL_ALIKE)
    _add(CallTotals, TOTAL_ALIKE, [(("", *alike[1:]), tally) for _, alike, tally in rows])
    return _remove(CallTotals, rows)


def _take(rows: Any, names: Sequence[str], most: int | None = AT_ONCE) -> list[_Taken]:
    """Rows: the key, the values of `names`, and what was counted."""
    sketch = ("sketch",) if rows.model is CallFigures else ()
    columns = ("pk", *names, *NUMBERS, "histogram", *sketch)
    first, last = 1 + len(names), 1 + len(names) + len(NUMBERS)
    found = rows.order_by(names[0]).values_list(*columns)[:most]
    return [(row[0], row[1:first], (row[first:last], *row[last:])) for row in found]


def _remove(model: Any, rows: Iterable[_Taken]) -> int:
    ids = [row[0] for row in rows]
    model.objects.filter(pk__in=ids).delete()
    return len(ids)


def _add(model: Any, names: Sequence[str], moved: Iterable[_Moved]) -> None:
    """Add to the rows of `model` that have the given values of `names`, making those that are missing."""
    tallies: dict[tuple[Any, ...], Tally] = {}
    for key, counted in moved:
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = Tally()
        tally.merge(*counted)
    if not tallies:
        return
    near = {
        f"{name}__in": {key[place] for key in tallies}
        for place, name in enumerate(names)
        if name in ("seconds", "begins_at", "tool")
    }
    taken = _take(model.objects.filter(**near), names, most=None)
    before = [row for row in taken if row[1] in tallies]
    for _, key, counted in before:
        tallies[key].merge(*counted)
    _remove(model, before)
    model.objects.insert(names, tallies.items())


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
