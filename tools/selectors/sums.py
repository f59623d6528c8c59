"""Calls of a stretch of time, told apart by one thing, from sums where there are any.

Sums and figures are read in one statement, so that what is added up meanwhile is seen once. Of
which stretches there are sums is asked before; once there are sums of one they stay complete,
and they are removed only a day after they were used last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final

from django.db.models import Q, QuerySet, Sum, TextField, Value
from orjson import loads

from tools.errors import CallStatus
from tools.figures import NUMBERS, Summed
from tools.models import CallFigures, CallSums, SumsSpan
from tools.models.figures import EVERY_CALLER, FRESH, LENGTHS
from tools.models.sums import DAYS, FIVE_MINUTES, HOUR, QUARTER_DAY, SUM_LENGTHS, TOGETHER
from tools.selectors.cover import FIGURES, Piece, Spans, ceiling, cover
from tools.selectors.joined import Joined

HOURS_KEPT: Final = timedelta(days=400)
# Hours serve ranges of up to a week, and the ends of longer ones while figures are by the minute.
SUMS_KEPT: Final[Mapping[int, timedelta]] = {
    FIVE_MINUTES: timedelta(days=2),
    HOUR: timedelta(days=9),
    QUARTER_DAY: timedelta(days=41),
    **dict.fromkeys(DAYS, HOURS_KEPT),
}
# Readers stop to use sums this long before they are removed.
_MARGIN: Final = timedelta(days=1)
_AT_ONCE: Final = 2000
# Callers that are not told apart any more.
OTHER_CALLERS: Final = "(others)"
_CALLER: Final = "caller"
_GOOD: Final = CallStatus.SUCCESS.value
_NOTHING: Final = Value("", output_field=TextField())

Found = dict[tuple[Any, ...], Summed]


def lengths_for(by: str, longest: timedelta | None = None) -> tuple[int, ...]:
    """Lengths of the sums by `by`, of which each step of `longest` is made up without a rest."""
    kept = SUM_LENGTHS if by == TOGETHER else SUM_LENGTHS[1:]
    if longest is None:
        return kept
    return tuple(one for one in kept if not longest % timedelta(seconds=one))


def summed(
    by: str,
    since: datetime,
    until: datetime,
    *,
    names: Collection[str] | None = None,
    told: Sequence[str] = ("name",),
    step: timedelta | None = None,
    times: bool = True,
    numbers: Collection[str] = NUMBERS,
) -> Found:
    """The calls of the minutes that begin from `since` until before `until`, by the values of `told`.

    `told` may be the name of what `by` tells apart, and when a stretch begins; stretches are then parts
    of one `step`. How long calls took is left out where `times` are not wanted, and so are all numbers
    but `numbers`, of which `calls` is one.
    """
    wanted = {**_numbers(numbers), **_times(times)}
    rows = _rows(by, since, until, names=names, told=told, step=step, wanted=wanted)
    return gather(rows, len(told), numbers)


def calls_only(
    by: str, since: datetime, until: datetime, names: Collection[str], step: timedelta
) -> Iterator[tuple[str, datetime, int, int]]:
    """Name, beginning, calls, and how many of them failed; of a step there may be several."""
    told = ("name", "begins_at")
    wanted = {**_numbers(("calls",)), **_times(False)}
    rows = _rows(by, since, until, names=names, told=told, step=step, wanted=wanted)
    for name, begins_at, status, _, calls, _, _, endings in rows.iterator(chunk_size=_AT_ONCE):
        if endings:
            good = sum(count for ended, _, count in chain(*loads(f"[{endings}]")) if ended == _GOOD)
        else:
            good = calls if status == _GOOD else 0
        yield name, begins_at, calls, calls - good


def _rows(
    by: str,
    since: datetime,
    until: datetime,
    *,
    names: Collection[str] | None,
    told: Sequence[str],
    step: timedelta | None,
    wanted: Mapping[str, Any],
) -> QuerySet[Any]:
    pieces = list(cover(since, until, spans(), lengths_for(by, step)))
    figures = _figures_in(pieces, by_caller=by == _CALLER)
    # Those of batches are by caller, and serve all.
    fresh = Q(seconds=FRESH, begins_at__gte=since, begins_at__lt=until)
    parts = [
        *_added_up(fresh | figures if figures else fresh, told, by, names, wanted),
        *_sums(_sums_in(by, pieces), told, names, wanted),
    ]
    return parts[0].union(*parts[1:], all=True)


def summed_in(by: str, pieces: Sequence[Piece]) -> Found:
    """The calls of the pieces without those of batches, by name."""
    told = ("name",) if by != TOGETHER else ()
    figures = _figures_in(pieces, by_caller=by == _CALLER)
    wanted = {**_numbers(NUMBERS), **_times(True)}
    parts = [
        *_added_up(figures, told, by, None, wanted),
        *_sums(_sums_in(by, pieces), told, None, wanted),
    ]
    return gather(parts[0].union(*parts[1:], all=True), len(told)) if parts else {}


def spans(now: datetime | None = None) -> Spans:
    """From when until before when sums may be used, by their length."""
    now = now or datetime.now(UTC)
    return {
        seconds: (
            max(since, ceiling(now - SUMS_KEPT[seconds] + _MARGIN, timedelta(seconds=seconds))),
            until,
        )
        for seconds, since, until in SumsSpan.objects.values_list("seconds", "since", "until")
        if seconds in SUMS_KEPT
    }


def _figures_in(pieces: Iterable[Piece], *, by_caller: bool) -> Q:
    """Figures that were added up, of the pieces that are read from them."""
    # One condition for each range of the index, which databases then find by themselves.
    chosen = Q()
    caller = ~Q(caller=EVERY_CALLER) if by_caller else Q(caller=EVERY_CALLER)
    for piece in pieces:
        if piece.seconds == FIGURES:
            for seconds in LENGTHS:
                if seconds != FRESH:
                    chosen |= Q(_within(piece), seconds=seconds) & caller
    return chosen


def _sums_in(by: str, pieces: Iterable[Piece]) -> Q:
    """Sums by `by` of the pieces that are read from such."""
    chosen = Q()
    for piece in pieces:
        if piece.seconds != FIGURES:
            chosen |= Q(_within(piece), by=by, seconds=piece.seconds)
    return chosen


def gather(rows: QuerySet[Any], keys: int, numbers: Collection[str] = NUMBERS) -> Found:
    """Rows as `added_up` gives them, by their first values."""
    found: Found = {}
    places = _places(numbers)
    first, last = keys + 2, keys + 2 + len(places)
    for row in rows.iterator(chunk_size=_AT_ONCE):
        calls = row[first]
        if calls is None:
            # The sum of no rows at all, where nothing is told apart.
            continue
        key = row[:keys]
        one = found.get(key)
        if one is None:
            one = found[key] = Summed()
        one.count(row[first:last], places)
        sketches, failed, endings = row[last:]
        if endings:
            one.merge(endings, sketches or "", failed or "")
        else:
            one.add(row[keys], row[keys + 1], calls, sketches or "")
    return found


def added_up(
    rows: QuerySet[Any], told: Sequence[str], wanted: Mapping[str, Any] | None = None
) -> QuerySet[Any]:
    """Rows of figures, for `gather`."""
    found: QuerySet[Any] = rows.order_by().values_list(*told, "status", "code")
    asked = {**(wanted or {**_numbers(NUMBERS), **_times(True)}), "ends": _NOTHING}
    # Of calls that ended alike all times are in one text.
    told_apart: QuerySet[Any] = found.annotate(**{**asked, "failures": _NOTHING})
    return told_apart


def _added_up(
    chosen: Q,
    told: Sequence[str],
    by: str,
    names: Collection[str] | None,
    wanted: Mapping[str, Any],
) -> Iterator[QuerySet[Any]]:
    if chosen:
        rows = CallFigures.objects.filter(chosen)
        own = [by if one == "name" else one for one in told]
        yield added_up(_named(rows, by, names), own, wanted)


def _sums(
    chosen: Q, told: Sequence[str], names: Collection[str] | None, wanted: Mapping[str, Any]
) -> Iterator[QuerySet[Any]]:
    if chosen:
        rows = _named(CallSums.objects.filter(chosen), "name", names).order_by()
        # How calls ended is in a text; only rows of figures have it in columns.
        yield (
            rows.annotate(status=_NOTHING, code=_NOTHING)
            .values_list(*told, "status", "code")
            .annotate(**{**wanted, "ends": Joined("endings")})
        )


def _named(rows: QuerySet[Any], column: str, names: Collection[str] | None) -> QuerySet[Any]:
    return rows if names is None else rows.filter(**{f"{column}__in": sorted(names)})


def _times(wanted: bool) -> Mapping[str, Any]:
    columns = {"sketches": "sketch", "failures": "failed_sketch"}
    return {name: Joined(column) if wanted else _NOTHING for name, column in columns.items()}


def _numbers(wanted: Collection[str]) -> Mapping[str, Any]:
    return {f"sum_{NUMBERS[place]}": Sum(NUMBERS[place]) for place in _places(wanted)}


def _places(wanted: Collection[str]) -> list[int]:
    """Where numbers are in `NUMBERS`; `calls` come first."""
    return [place for place, name in enumerate(NUMBERS) if name in wanted]


def _within(piece: Piece) -> Q:
    return Q(begins_at__gte=piece.since, begins_at__lt=piece.until)
