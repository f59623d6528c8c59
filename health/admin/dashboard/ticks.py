"""Times between the ends of a chart: round ones, few enough to be read on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.utils import timezone

_DAY: Final = timedelta(days=1)
_STEPS: Final = (
    *(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30)),
    *(timedelta(hours=hours) for hours in (1, 2, 6, 12)),
    *(timedelta(days=days) for days in (1, 2, 7)),
)
_MOST: Final = 5
# Words beyond would stand out over the edge.
_FIRST, _LAST = 0.06, 0.94


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment: how far from the left, in percent, and what it says."""

    percent: str
    word: str


def ticks(begins: datetime, length: timedelta) -> list[Tick]:
    """Moments at which clocks show round times, as people here see them."""
    step = next((one for one in _STEPS if length / one <= _MOST), _STEPS[-1])
    written = "%H:%M" if step < _DAY else "%m-%d"
    return [
        Tick(f"{100 * share:.2f}", f"{moment:{written}}")
        for moment in _round(begins, length, step)
        if _FIRST <= (share := (moment.astimezone(UTC) - begins) / length) <= _LAST
    ]


def _round(begins: datetime, length: timedelta, step: timedelta) -> Iterator[datetime]:
    midnight = timezone.localtime(begins).replace(hour=0, minute=0, second=0, microsecond=0)
    # A day may have an hour more than others.
    for place in range((length + 2 * _DAY) // step + 1):
        yield midnight + place * step
