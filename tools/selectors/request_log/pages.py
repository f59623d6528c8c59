"""One page of the calls somebody looks for, and how many there are.

Where an index finds exactly those, a page is read at once. Otherwise rows are looked through in order of their
arrival, a piece at a time, until the page is full, the pieces are used up or it has taken long enough; whoever
asked may go on from there. So no combination of conditions reads the whole table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from tools.selectors.request_log.cursors import Cursor
from tools.selectors.request_log.ways import Way

ROWS: Final = 50
MOST_COUNTED: Final = 10_000
# Rows that are looked through in one go, small pieces first: what is frequent is found at once.
PIECES: Final = (1_000, 4_000, 10_000, 15_000, 20_000)
SLOW_PIECES: Final = (1_000, 4_000, 7_000, 8_000)
# After this no further piece is begun.
LONGEST_SECONDS: Final = 0.1
# Rows that are looked through only to be counted.
COUNTED_AMONG: Final = 5_000


@dataclass(frozen=True, slots=True)
class Page:
    """Calls, latest first, and the places from where one goes on."""

    rows: Sequence[Any]
    newer: Cursor | None = None
    older: Cursor | None = None
    # How many were looked through, and up to when, if that was not all of them.
    looked: int = 0
    looked_to: datetime | None = None
    newest: bool = True
    # Whether it was read from older calls to newer ones.
    forward: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """The call nearest to a place; or where the search for it was given up, if it was."""

    call: Any = None
    stopped: Cursor | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    rows: list[Any]
    stopped: Cursor | None = None
    looked: int = 0


def page(
    way: Way, *, before: Cursor | None = None, after: Cursor | None = None, most: int = ROWS
) -> Page:
    """The latest calls, those before a place, or those after it."""
    if after is not None:
        found = _found(way, after, most + 1, forward=True)
        if len(found.rows) > most or found.stopped is not None:
            return _forward(found, after, most)
        # Less than a page is newer: that is the first page, and it is to be a whole one.
        before = None
    found = _found(way, before, most + 1, forward=False)
    rows, full = found.rows[:most], len(found.rows) > most
    older = Cursor.at(rows[-1]) if full else found.stopped
    newer = None if before is None else Cursor.at(rows[0]) if rows else before
    return Page(rows, newer, older, *_told(found, full), newest=before is None)


def step(way: Way, place: Cursor, *, forward: bool) -> Step:
    """From a place to the next call, later ones if `forward`."""
    found = _found(way, place, 1, forward=forward)
    return Step(found.rows[0]) if found.rows else Step(stopped=found.stopped)


def _forward(found: _Found, after: Cursor, most: int) -> Page:
    full = len(found.rows) > most
    rows = found.rows[:most][::-1]
    newer = Cursor.at(rows[0]) if full else found.stopped
    older = Cursor.at(rows[-1]) if rows else after
    return Page(rows, newer, older, *_told(found, full), newest=False, forward=True)


def _told(found: _Found, full: bool) -> tuple[int, datetime | None]:
    if full or found.stopped is None:
        return 0, None
    return found.looked, found.stopped.received_at


def _found(way: Way, place: Cursor | None, most: int, *, forward: bool) -> _Found:
    """Up to `most` rows beyond `place`, nearest first."""
    if way.exact:
        return _Found(
            list(ordered(way, way.matching(_beyond(way, place, forward)), forward)[:most])
        )
    rows: list[Any] = []
    looked, end = 0, time.monotonic() + LONGEST_SECONDS
    for size in SLOW_PIECES if way.slow else PIECES:
        ahead = _beyond(way, place, forward)
        edge = _edge(ahead, size, forward)
        piece = way.matching(ahead if edge is None else _up_to(ahead, edge, forward))
        rows += ordered(way, piece, forward)[: most - len(rows)]
        looked += size
        if edge is None or len(rows) >= most:
            return _Found(rows)
        place = Cursor(edge)
        if time.monotonic() > end:
            break
    return _Found(rows, place, looked)


def _beyond(way: Way, place: Cursor | None, forward: bool) -> QuerySet[Any]:
    if place is None:
        return way.rows
    return place.newer(way.rows) if forward else place.older(way.rows)


def ordered(way: Way, rows: QuerySet[Any], forward: bool = False) -> QuerySet[Any]:
    """By arrival. Few rows are sorted: in no case is the index walked by which all calls are in order."""
    names = ("received_at", "pk") if forward else ("-received_at", "-pk")
    if not way.few:
        return rows.order_by(*names)
    # An expression, for which there is no index.
    arrival = Coalesce("received_at", "received_at")
    return rows.order_by(arrival.asc() if forward else arrival.desc(), names[1])


def _edge(rows: QuerySet[Any], size: int, forward: bool) -> datetime | None:
    """When the row arrived up to which there are `size`; None if there are no more than that.

    An index alone answers it, and it walks over no more rows than that.
    """
    arrivals = rows.order_by("received_at" if forward else "-received_at")
    times = list(arrivals.values_list("received_at", flat=True)[size - 1 : size])
    return times[0] if times else None


def _up_to(rows: QuerySet[Any], edge: datetime, forward: bool) -> QuerySet[Any]:
    return rows.filter(received_at__lte=edge) if forward else rows.filter(received_at__gte=edge)


def count(way: Way, shown: Page) -> tuple[int, bool]:
    """How many calls there are at least, and whether that is all of them; `shown` is the first page."""
    if not way.exact:
        if shown.older is None:
            return len(shown.rows), True
        if shown.looked:
            return len(shown.rows), False
    rows = way.rows
    complete = True
    if not way.exact:
        edge = _edge(rows, SLOW_PIECES[0] if way.slow else COUNTED_AMONG, forward=False)
        if edge is not None:
            rows, complete = _up_to(rows, edge, forward=False), False
    counted = way.matching(rows).order_by()[: MOST_COUNTED + 1].count()
    if counted > MOST_COUNTED:
        return MOST_COUNTED, False
    return max(counted, len(shown.rows)), complete
