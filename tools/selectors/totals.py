"""Sums over all calls ever, which never shrink: for counters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Sum

from tools.figures import NUMBERS, Tally
from tools.models import CallFigures, CallTotals
from tools.models.figures import FRESH, TOTAL_ALIKE
from tools.selectors.joined import Joined

# Tool, source, dependency, status, code.
TotalKey = tuple[str, str, str, str, str]


def call_totals() -> dict[TotalKey, Tally]:
    """All calls that are in the request log, or were once."""
    found: dict[TotalKey, Tally] = {}
    for tool, source, dependency, status, code, *numbers, histograms in _rows():
        key = (tool, source, dependency, status, code)
        tally = found.get(key)
        if tally is None:
            tally = found[key] = Tally()
        tally.merge(numbers, histograms)
    return found


def _rows() -> Iterator[Any]:
    sums = {f"sum_{name}": Sum(name) for name in NUMBERS}
    # One statement: what is being added up at this moment is seen in one of the two places.
    added_up, not_yet = (
        rows.order_by().values_list(*TOTAL_ALIKE).annotate(**sums, written=Joined("histogram"))
        for rows in (CallTotals.objects.all(), CallFigures.objects.filter(seconds=FRESH))
    )
    found: Iterator[Any] = added_up.union(not_yet, all=True).iterator(chunk_size=2000)
    return found
