"""Calls and failures of tools, hour by hour, for small charts in lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from tools.errors import CallStatus
from tools.figures import Number
from tools.selectors.cover import floor
from tools.selectors.sums import summed

HOUR: Final = timedelta(hours=1)

# Calls, and how many of them failed.
Counted = tuple[int, int]


def tool_hours(
    tools: Collection[str], until: datetime, hours: int
) -> Mapping[str, Sequence[Counted]]:
    """Of each tool the `hours` up to `until`, oldest first; the last one is not over."""
    first = floor(until, HOUR) - HOUR * (hours - 1)
    found: dict[str, list[Counted]] = {}
    told = ("name", "begins_at")
    read = summed(
        *("tool", first, until),
        names=tools,
        told=told,
        step=HOUR,
        times=False,
        numbers=("calls",),
    )
    for (tool, begins_at), one in read.items():
        series = found.setdefault(tool, [(0, 0)] * hours)
        place = (begins_at - first) // HOUR
        calls, wrong = series[place]
        all_calls = int(one[Number.CALLS])
        good = sum(
            count for (status, _), count in one.endings.items() if status == CallStatus.SUCCESS
        )
        series[place] = calls + all_calls, wrong + all_calls - good
    return found
