"""Copies of figures over longer stretches, made once a stretch is over; see `tools.models.sums`.

Latest first, so that after an upgrade the latest figures are read quickly at once, and old ones
follow. Whatever comes late is added to the sums that are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from tools.figures import NUMBERS, Number, Summed
from tools.models import CallFigures, CallSums, SumsSpan
from tools.models.figures import ALIKE, HOUR, MINUTE
from tools.models.sums import FIVE_MINUTES, KINDS, SUM_LENGTHS, TOGETHER
from tools.selectors.cover import Spans, ceiling, cover, floor
from tools.selectors.sums import OTHER_CALLERS, SUMS_KEPT, Found, summed_in

# A stretch that is over for so long is summed: most calls of it have ended.
SETTLED: Final = timedelta(minutes=5)
# Told apart in each stretch, those with most calls.
CALLERS_TOLD: Final = 1000
AT_ONCE: Final = 1000
KEY: Final = ("by", "seconds", "begins_at", "name")
_ALIKE: Final = {name: place for place, name in enumerate(ALIKE)}

# When it began, what tells it apart (`ALIKE`), its numbers, its sketch.
Late = tuple[datetime, tuple[Any, ...], Any, str]


def sum_next(seconds: int, now: datetime) -> int:
    """Sum up the next stretch of that length which is over; 0 when there is none."""
    step = timedelta(seconds=seconds)
    over = floor(now - SETTLED, step)
    span = _span(seconds, over)
    if span.until < (first := _first(seconds, now)):
        # Nobody added up for long, and what figures are left are not by the minute any more.
        span.since = span.until = first
    begins_at = min(_moments(seconds, span.until, over, "begins_at"), default=None)
    if begins_at is None:
        if span.until < over:
            span.until = over
            span.save()
        return 0
    begin = floor(begins_at, step)
    _sum_up(seconds, begin)
    span.until = begin + step
    span.save()
    return 1


def sum_previous(seconds: int, now: datetime) -> int:
    """Sum up the latest stretch of that length before those that were; 0 when there is none."""
    step = timedelta(seconds=seconds)
    span = _span(seconds, floor(now - SETTLED, step))
    begins_at = max(_moments(seconds, _first(seconds, now), span.since, "-begins_at"), default=None)
    if begins_at is None:
        return 0
    begin = floor(begins_at, step)
    _sum_up(seconds, begin)
    span.since = begin
    span.save()
    return 1


def remove_sums(seconds: int, now: datetime) -> int:
    """Remove some of the sums that are not kept any longer; how many."""
    first = _first(seconds, now)
    SumsSpan.objects.filter(seconds=seconds, since__lt=first).update(since=first)
    old = CallSums.objects.filter(by__in=KINDS, seconds=seconds, begins_at__lt=first)
    ids = list(old.order_by().values_list("pk", flat=True)[:AT_ONCE])
    CallSums.objects.filter(pk__in=ids).delete()
    return len(ids)


def add_late(figures: Iterable[Late]) -> None:
    """Add what was just added to figures, where there are sums of its stretch already."""
    spans: Spans = {
        row.seconds: (row.since, row.until)
        for row in SumsSpan.objects.all()
        if row.since < row.until
    }
    added: Found = {}
    for begins_at, alike, counted, sketch in figures:
        for seconds, (since, until) in spans.items():
            begin = floor(begins_at, timedelta(seconds=seconds))
            if since <= begin < until:
                for by in _kinds(seconds):
                    name = alike[_ALIKE[by]] if by else ""
                    one = added.setdefault((by, seconds, begin, name), Summed())
                    one.count(counted)
                    calls = int(counted[Number.CALLS])
                    one.add(alike[_ALIKE["status"]], alike[_ALIKE["code"]], calls, sketch)
    for key, one in _there(added):
        added[key].include(one)
    CallSums.objects.insert(KEY, added.items())


def _sum_up(seconds: int, begin: datetime) -> None:
    """Sums of one stretch, from those of its parts where there are such, else from figures."""
    end = begin + timedelta(seconds=seconds)
    spans: Spans = {row.seconds: (row.since, row.until) for row in SumsSpan.objects.all()}
    shorter = [one for one in SUM_LENGTHS if FIVE_MINUTES < one < seconds]
    pieces = list(cover(begin, end, spans, shorter))
    made: Found = {}
    for by in _kinds(seconds):
        found = summed_in(by, pieces)
        if by == "caller":
            found = _busiest(found)
        made.update(((by, seconds, begin, *(name or ("",))), one) for name, one in found.items())
    # Of a stretch that was summed before the span was lost, or never added to it.
    CallSums.objects.filter(by__in=KINDS, seconds=seconds, begins_at=begin).delete()
    CallSums.objects.insert(KEY, made.items())


def _busiest(callers: Found) -> Found:
    """Those with most calls, and all others together."""
    ordered = sorted(callers.items(), key=lambda item: (-item[1].numbers[0], item[0]))
    kept = dict(ordered[:CALLERS_TOLD])
    for _, one in ordered[CALLERS_TOLD:]:
        kept.setdefault((OTHER_CALLERS,), Summed()).include(one)
    return kept


def _there(added: Found) -> Iterator[tuple[tuple[Any, ...], Summed]]:
    """Rows that are to be written anew; they are removed."""
    if not added:
        return
    near = {f"{name}__in": {key[place] for key in added} for place, name in enumerate(KEY)}
    columns = ("pk", *KEY, *NUMBERS, "endings", "sketch", "failed_sketch")
    first, last = 1 + len(KEY), 1 + len(KEY) + len(NUMBERS)
    rows = [
        row
        for row in CallSums.objects.filter(**near).values_list(*columns)
        if row[1:first] in added
    ]
    CallSums.objects.filter(pk__in=[row[0] for row in rows]).delete()
    for row in rows:
        one = Summed()
        endings, sketch, failed = row[last:]
        one.count(row[first:last])
        one.merge(endings, sketch, failed)
        yield row[1:first], one


def _span(seconds: int, over: datetime) -> Any:
    found, _ = SumsSpan.objects.get_or_create(
        seconds=seconds, defaults={"since": over, "until": over}
    )
    return found


def _first(seconds: int, now: datetime) -> datetime:
    """The earliest stretch that sums are kept of."""
    return ceiling(now - SUMS_KEPT[seconds], timedelta(seconds=seconds))


def _moments(seconds: int, since: datetime, until: datetime, order: str) -> Iterator[datetime]:
    """The first moment in that order of which there are figures, of each length that sums are made from."""
    for length in (MINUTE, HOUR) if seconds >= HOUR else (MINUTE,):
        rows = CallFigures.objects.filter(seconds=length, begins_at__gte=since, begins_at__lt=until)
        yield from rows.order_by(order).values_list("begins_at", flat=True)[:1]


def _kinds(seconds: int) -> tuple[str, ...]:
    return KINDS if seconds >= HOUR else (TOGETHER,)
