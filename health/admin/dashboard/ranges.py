"""The stretches of time that the dashboard can show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from tools.selectors.figures import aligned


@dataclass(frozen=True, slots=True)
class Range:
    """A length that can be chosen, and the step of its charts."""

    name: str
    length: timedelta
    step: timedelta


@dataclass(frozen=True, slots=True)
class Stretch:
    """The time from `since` until before `until`, in steps."""

    since: datetime
    until: datetime
    step: timedelta


RANGES: Final = {
    one.name: one
    for one in (
        Range("15m", timedelta(minutes=15), timedelta(minutes=1)),
        Range("1h", timedelta(hours=1), timedelta(minutes=1)),
        Range("6h", timedelta(hours=6), timedelta(minutes=5)),
        Range("24h", timedelta(hours=24), timedelta(minutes=20)),
        Range("7d", timedelta(days=7), timedelta(hours=3)),
        Range("30d", timedelta(days=30), timedelta(hours=12)),
    )
}
DEFAULT: Final = "1h"


def chosen(name: str) -> Range:
    """The range of that name, or the default."""
    return RANGES.get(name, RANGES[DEFAULT])


def stretch(of: Range, now: datetime | None = None) -> Stretch:
    """The latest stretch of that length, up to this moment."""
    now = now or datetime.now(UTC)
    return Stretch(aligned(now - of.length, now), now, of.step)
