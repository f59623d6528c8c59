"""Calls and failures of tools, hour by hour, for small charts in lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from tools.selectors.cover import floor
from tools.selectors.sums import calls_only

HOUR: Final = timedelta(hours=1)

# Calls, and how many of them failed.
Counted = tuple[int, int]


def tool_hours(
    tools: Collection[str], until: datetime, hours: int
) -> Mapping[str, Sequence[Counted]]:
    """Of each tool the `hours` up to `until`, oldest first; the last one is not over."""
    first = floor(until, HOUR) - HOUR * (hours - 1)
    found: dict[str, list[Counted]] = {}
    for tool, begins_at, calls, failed in calls_only("tool", first, until, tools, HOUR):
        series = found.setdefault(tool, [(0, 0)] * hours)
        place = (begins_at - first) // HOUR
        before = series[place]
        series[place] = before[0] + calls, before[1] + failed
    return found
