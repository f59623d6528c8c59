"""Which tools or callers stand out: the busiest, the slowest, those that fail most."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tools.figures import CallStatistics, Number, Summed, statistics
from tools.selectors.figures import By
from tools.selectors.sums import summed

_NUMBERS: Final = ("calls", "timed", "time_ms")
_MINUTE: Final = timedelta(minutes=1)

Named = tuple[str, Summed]


@dataclass(frozen=True, slots=True)
class Leaders:
    """The first few in each respect, by name, the foremost first.

    The slowest have the highest p95. Nobody is among the failing without a call that failed.
    """

    busiest: dict[str, CallStatistics]
    slowest: dict[str, CallStatistics]
    failing: dict[str, CallStatistics]


def leaders(by: By, since: datetime, until: datetime, *, most: int, least_calls: int) -> Leaders:
    """The `most` first in each respect; with less than `least_calls` nobody is slow or failing."""
    found = [
        (name, one) for (name,), one in summed(by.value, since, until, numbers=_NUMBERS).items()
    ]
    named = [(name, one) for name, one in found if name]
    judged = [(name, one) for name, one in named if one[Number.CALLS] >= least_calls]
    failing = [(name, one) for name, one in judged if one.unsuccessful]
    minutes = (until - since) / _MINUTE

    def told(chosen: Iterable[Named]) -> dict[str, CallStatistics]:
        return {name: statistics(one, minutes) for name, one in chosen}

    return Leaders(
        busiest=told(sorted(named, key=_calls)[:most]),
        slowest=told(_slowest(judged, most)),
        failing=told(sorted(failing, key=_failures)[:most]),
    )


def _slowest(judged: Iterable[Named], most: int) -> list[Named]:
    """The times of few are put together: of the others it is enough that they are not slower."""
    found: list[tuple[float, str, Summed]] = []
    # Who is slow on average sets the mark for the others early.
    for name, one in sorted(judged, key=_average, reverse=True):
        if len(found) == most and not one.may_reach(-found[-1][0]):
            continue
        insort(found, (-one.p95(), name, one), key=lambda item: item[:2])
        del found[most:]
    return [(name, one) for _, name, one in found]


def _calls(item: Named) -> tuple[float, str]:
    return -item[1][Number.CALLS], item[0]


def _average(item: Named) -> float:
    timed = item[1][Number.TIMED]
    return item[1][Number.TIME_MS] / timed if timed else 0.0


def _failures(item: Named) -> tuple[float, float, str]:
    name, one = item
    calls = one[Number.CALLS]
    return -one.unsuccessful / calls, -calls, name
