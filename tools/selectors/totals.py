"""Sums over all calls ever, which never shrink: for counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.figures import NUMBERS, Tally
from tools.models import CallFigures, CallTotals
from tools.models.figures import FRESH, TOTAL_ALIKE

# Tool, source, dependency, status, code.
TotalKey = tuple[str, str, str, str, str]


def call_totals() -> dict[TotalKey, Tally]:
    """All calls that are in the request log, or were once."""
    found: dict[TotalKey, Tally] = {}
    for row in _rows():
        alike: Any = tuple(row[: len(TOTAL_ALIKE)])
        tally = found.get(alike)
        if tally is None:
            tally = found[alike] = Tally()
        tally.merge(row[len(TOTAL_ALIKE) : -1], row[-1])
    return found


def _rows() -> Iterator[Any]:
    columns = (*TOTAL_ALIKE, *NUMBERS, "histogram")
    # One statement: what is being added up at this moment is seen in one of the two places.
    added_up = CallTotals.objects.order_by().values_list(*columns)
    not_yet = CallFigures.objects.filter(seconds=FRESH).order_by().values_list(*columns)
    return added_up.union(not_yet, all=True).iterator(chunk_size=2000)
