"""Adds figures up: those of batches into minutes, minutes into hours, all of them into totals.

Each step is a short transaction that moves figures from one place to another, so readers see each
call once at any moment, and whoever dies leaves nothing half done. One process at a time does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Sum

from tools.figures import NUMBERS, Tally
from tools.models import CallFigures, CallTotals, Tool
from tools.models.figures import ALIKE, FRESH, HOUR, MINUTE, TOTAL_ALIKE
from tools.selectors.figures import HOURS_KEPT, MINUTES_KEPT

# Rows per transaction: on SQLite the journal waits for its end.
AT_ONCE: Final = 1000
# Callers may be as many as there are addresses; this many are told apart in an hour that is past.
CALLERS_KEPT: Final = 100
OTHER_CALLERS: Final = "(others)"
LOCK: Final = 0x_F19_0E5

STRETCH: Final = ("seconds", "begins_at", *ALIKE)


def fold_figures(now: datetime | None = None) -> int:
    """Add up what there is, until nothing is left; how many rows were taken up."""
    moment = now or datetime.now(UTC)
    steps: Sequence[Callable[[datetime], int]] = (_fold_fresh, _fold_minutes, _prune, _retire)
    taken = 0
    for step in steps:
        while moved := _alone(step, moment):
            taken += moved
    return taken


def _alone(step: Callable[[datetime], int], now: datetime) -> int:
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
    rows = list(CallFigures.objects.filter(seconds=FRESH).order_by("begins_at")[:AT_ONCE])
    minutes_from = _hour(now - MINUTES_KEPT)
    moved: list[tuple[tuple[Any, ...], CallFigures]] = []
    for row in rows:
        late = row.begins_at < minutes_from
        begins_at = _hour(row.begins_at) if late else row.begins_at
        moved.append(((HOUR if late else MINUTE, begins_at, *_alike(row, ALIKE)), row))
    _add(CallFigures, STRETCH, moved)
    _add(CallTotals, TOTAL_ALIKE, [(_alike(row, TOTAL_ALIKE), row) for row in rows])
    CallFigures.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)


def _fold_minutes(now: datetime) -> int:
    """Some rows of the earliest hour that is no longer kept by the minute."""
    old = CallFigures.objects.filter(seconds=MINUTE, begins_at__lt=_hour(now - MINUTES_KEPT))
    first = old.order_by("begins_at").values_list("begins_at", flat=True).first()
    if first is None:
        return 0
    hour = _hour(first)
    until = hour + timedelta(hours=1)
    kept = _busiest_callers(hour, until)
    rows = list(old.filter(begins_at__lt=until).order_by("begins_at")[:AT_ONCE])
    for row in rows:
        row.caller = row.caller if row.caller in kept else OTHER_CALLERS
    _add(CallFigures, STRETCH, [((HOUR, hour, *_alike(row, ALIKE)), row) for row in rows])
    CallFigures.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)


def _busiest_callers(hour: datetime, until: datetime) -> set[str]:
    """Over the rows that are moved and those that were: the same whichever step asks."""
    rows = CallFigures.objects.filter(
        seconds__in=(MINUTE, HOUR), begins_at__gte=hour, begins_at__lt=until
    ).exclude(caller=OTHER_CALLERS)
    counted = rows.order_by().values("caller").annotate(sum=Sum("calls"))
    return set(counted.order_by("-sum", "caller").values_list("caller", flat=True)[:CALLERS_KEPT])


def _prune(now: datetime) -> int:
    old = CallFigures.objects.filter(seconds=HOUR, begins_at__lt=now - HOURS_KEPT)
    ids = list(old.order_by("begins_at").values_list("pk", flat=True)[:AT_ONCE])
    CallFigures.objects.filter(pk__in=ids).delete()
    return len(ids)


def _retire(now: datetime) -> int:
    """Totals of tools that were deleted lose their name, so that names do not gather for ever."""
    rows = CallTotals.objects.exclude(tool="").exclude(tool__in=Tool.objects.values("name"))
    gone = list(rows.order_by("pk")[:AT_ONCE])
    _add(CallTotals, TOTAL_ALIKE, [(("", *_alike(row, TOTAL_ALIKE)[1:]), row) for row in gone])
    CallTotals.objects.filter(pk__in=[row.pk for row in gone]).delete()
    return len(gone)


def _add(model: Any, names: Sequence[str], moved: Iterable[tuple[tuple[Any, ...], Any]]) -> None:
    """Add rows to those of `model` that `names` have the given values of, making those that are missing."""
    tallies: dict[tuple[Any, ...], Tally] = {}
    for key, row in moved:
        _merge(tallies.setdefault(key, Tally()), row)
    if not tallies:
        return
    found = {
        name: {key[place] for key in tallies}
        for place, name in enumerate(names)
        if name in ("seconds", "begins_at", "tool")
    }
    before = model.objects.filter(**{f"{name}__in": values for name, values in found.items()})
    replaced = [row for row in before if _alike(row, names) in tallies]
    for row in replaced:
        _merge(tallies[_alike(row, names)], row)
    model.objects.filter(pk__in=[row.pk for row in replaced]).delete()
    model.objects.bulk_create(_row(model, names, key, tally) for key, tally in tallies.items())


def _merge(tally: Tally, row: Any) -> None:
    tally.merge(_alike(row, NUMBERS), row.histogram, getattr(row, "sketch", ""))


def _row(model: Any, names: Sequence[str], key: tuple[Any, ...], tally: Tally) -> Any:
    values = dict(zip(names, key, strict=True)) | dict(zip(NUMBERS, tally.numbers, strict=True))
    if model is CallFigures:
        values["sketch"] = tally.sketch.written()
    return model(**values, histogram=tally.written_histogram())


def _alike(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
