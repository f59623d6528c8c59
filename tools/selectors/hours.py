"""Calls and failures of tools, hour by hour, for small charts in lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db.models import CharField, Q, Sum
from django.db.models.functions import Cast, Substr

from tools.errors import CallStatus
from tools.selectors.figures import Chosen, figures_between

HOUR: Final = timedelta(hours=1)
# Of a moment as databases write it: all before the minutes.
_WRITTEN: Final = 13

# Calls, and how many of them failed.
Counted = tuple[int, int]


def tool_hours(
    tools: Collection[str], until: datetime, hours: int
) -> Mapping[str, Sequence[Counted]]:
    """Of each tool the `hours` up to `until`, oldest first; the last one is not over."""
    last = until.replace(minute=0, second=0, microsecond=0)
    begins = [last - HOUR * back for back in reversed(range(hours))]
    places = {f"{begin:%Y-%m-%d %H}": place for place, begin in enumerate(begins)}
    found: dict[str, list[Counted]] = {}
    rows = Chosen(tools=tools).narrow(figures_between(begins[0], until))
    # By the text of a moment: SQLite would call back for every row to cut a moment short.
    written = rows.annotate(hour=Substr(Cast("begins_at", CharField()), 1, _WRITTEN))
    failed = Sum("calls", filter=~Q(status=CallStatus.SUCCESS.value), default=0)
    for tool, hour, calls, wrong in written.values_list("tool", "hour").annotate(
        calls_=Sum("calls"), wrong=failed
    ):
        series = found.setdefault(tool, [(0, 0)] * hours)
        if hour in places:
            series[places[hour]] = calls, wrong
    return found
