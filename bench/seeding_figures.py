"""Figures of a seeded request log, as the journal and the beat would have left them by now.

Rows by minute for the last 48 hours and by hour before, by caller and for all callers together,
totals, and then the sums that the real task makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final

READ: Final = (
    *("received_at", "tool_id", "source", "caller", "status", "code", "stages"),
    *("duration_ms", "cache_hit", "tokens_before", "tokens_after"),
)
AT_ONCE: Final = 5000
VALIDATED: Final = '{"validation": 1, "rate": 1}'


def seed_figures(now: datetime) -> None:
    """Count every call of the request log that is over, and add it all up."""
    from django.db import connection

    from tools.services.fold_figures import fold_figures

    add_up(now)
    # Bit by bit, as after an upgrade.
    while fold_figures(now):
        pass
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def add_up(now: datetime) -> None:
    """Figures by minute, by hour, and totals; in bulk, because the real fold takes its time."""
    from django.db import transaction

    from tools.figures import Tally
    from tools.models import CallFigures, CallTotals
    from tools.models.figures import TOTAL_ALIKE
    from tools.services.fold_figures import STRETCH

    minutes_from = _floor(now - timedelta(hours=48), timedelta(hours=1))
    totals: dict[tuple[Any, ...], Tally] = {}
    for _, events in groupby(_events(minutes_from), key=lambda event: event["begins_at"]):
        found: dict[tuple[Any, ...], Tally] = {}
        for event in events:
            alike = (event["tool"], event["source"], "")
            ended = (event["status"], event["code"])
            stretch = (event["seconds"], event["begins_at"])
            for key in (
                (*stretch, *alike, event["caller"], *ended),
                (*stretch, *alike, "", *ended),
            ):
                found.setdefault(key, Tally()).add(event)
            totals.setdefault((*alike, *ended), Tally()).add(event)
        with transaction.atomic():
            CallFigures.objects.insert(STRETCH, found.items())
    CallTotals.objects.insert(TOTAL_ALIKE, totals.items())


def _events(minutes_from: datetime) -> Iterator[dict[str, Any]]:
    """Calls that are over, oldest first, as closing events tell of them."""
    from tools.models import ToolRequest

    rows = ToolRequest.objects.filter(finished_at__isnull=False).order_by("received_at")
    for row in rows.values(*READ).iterator(chunk_size=AT_ONCE):
        late = row["received_at"] < minutes_from
        step = timedelta(hours=1) if late else timedelta(minutes=1)
        row.update(
            tool=row.pop("tool_id") if row["source"] else "",
            seconds=int(step.total_seconds()),
            begins_at=_floor(row["received_at"], step),
            stages=VALIDATED if row["stages"] else "{}",
        )
        yield row


def _floor(moment: datetime, step: timedelta) -> datetime:
    return moment.replace(
        minute=0 if step > timedelta(minutes=1) else moment.minute, second=0, microsecond=0
    )
