"""How a stretch of time is read from as few rows as there are: the longest sums that lie within it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)
# Stands for no sums at all, but the figures themselves.
FIGURES: Final = 0

# From when until before when there are sums of a length.
Spans = Mapping[int, tuple[datetime, datetime]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a stretch, and the length of the sums that it is read from."""

    seconds: int
    since: datetime
    until: datetime


def cover(
    since: datetime, until: datetime, spans: Spans, lengths: Sequence[int]
) -> Iterator[Piece]:
    """Pieces that make up the time from `since` until before `until`; longest `lengths` come last."""
    if since >= until:
        return
    if not lengths:
        yield Piece(FIGURES, since, until)
        return
    *shorter, longest = lengths
    step = timedelta(seconds=longest)
    first, last = spans.get(longest, (until, since))
    begin, end = ceiling(max(since, first), step), floor(min(until, last), step)
    if begin < end:
        yield from cover(since, begin, spans, shorter)
        yield Piece(longest, begin, end)
        yield from cover(end, until, spans, shorter)
    else:
        yield from cover(since, until, spans, shorter)


def floor(moment: datetime, step: timedelta) -> datetime:
    """The beginning of the step that a moment lies in; steps are counted in UTC."""
    return moment - (moment - _EPOCH) % step


def ceiling(moment: datetime, step: timedelta) -> datetime:
    """The next moment at which a step begins, or this one."""
    return moment + (_EPOCH - moment) % step
