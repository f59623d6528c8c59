"""Writes reports down: the history, and every change of status as an event of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection, transaction

from health.conf import health_settings
from health.findings import HealthReport
from health.models import CurrentHealth, HealthSnapshot, StatusChange, Subject

logger = logging.getLogger(__name__)

GOOD: Final = frozenset({"healthy", "connected"})
# Changes are few, and what an incident is told from afterwards.
CHANGES_KEPT: Final = timedelta(days=400)

# Told of changes once they are written.
on_changes: list[Callable[[Sequence[StatusChange]], None]] = []


def record(report: HealthReport) -> list[StatusChange]:
    """Keep a report; what it changed. One that is older than the last changes nothing.

    Raises:
        DatabaseError: it is not kept.
    """
    written = report.to_json()
    with transaction.atomic():
        known, created = CurrentHealth.objects.select_for_update().get_or_create(
            pk=1, defaults={"checked_at": report.checked_at, "report": written}
        )
        if not created and known.checked_at >= report.checked_at:
            return []
        HealthSnapshot.objects.create(
            taken_at=report.checked_at, status=report.status.value, report=written
        )
        changes = [] if created else list(_changes(known.report, written, report.checked_at))
        StatusChange.objects.bulk_create(changes)
        known.checked_at, known.report = report.checked_at, written
        known.save()
    for change in changes:
        _log(change)
    if changes:
        for listener in on_changes:
            listener(changes)
    return changes


async def keep(report: HealthReport) -> bool:
    """Keep a report, from an event loop; False while the database is away."""

    def write() -> None:
        try:
            record(report)
        finally:
            connection.close()

    try:
        await sync_to_async(write, thread_sensitive=False)()
    except DatabaseError:
        # The report itself says so, and it is published.
        return False
    return True


def prune(now: datetime | None = None) -> int:
    """Remove history that outlived its retention; how many rows."""
    now = now or datetime.now(UTC)
    oldest = now - timedelta(days=health_settings().snapshot_days)
    removed, _ = HealthSnapshot.objects.filter(taken_at__lt=oldest).delete()
    others, _ = StatusChange.objects.filter(at__lt=now - CHANGES_KEPT).delete()
    return removed + others


def _statuses(report: Mapping[str, Any]) -> dict[tuple[str, str], tuple[str, str]]:
    """Status and reason of everything in a report."""
    found = {
        (Subject.DEPENDENCY.value, name): (one["status"], one.get("error") or "")
        for name, one in report["dependencies"].items()
    }
    found |= {
        (Subject.PIPELINE.value, name): (one["status"], one["error"] or "")
        for name, one in report["pipelines"].items()
        if one["counted"]
    }
    bad = [
        f"{name}: {reason}" for (_, name), (status, reason) in found.items() if status not in GOOD
    ]
    found[Subject.SERVICE.value, Subject.SERVICE.value] = report["status"], "; ".join(bad)
    return found


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], at: datetime
) -> Iterator[StatusChange]:
    old = _statuses(before)
    for (subject, name), (status, reason) in _statuses(after).items():
        # What is new counts as having been well.
        known = old.get((subject, name), (status if status in GOOD else "", ""))[0]
        if known != status:
            yield StatusChange(
                at=at, subject=subject, name=name, before=known, after=status, reason=reason
            )


def _log(change: StatusChange) -> None:
    level = logging.INFO if change.after in GOOD else logging.WARNING
    fields = {
        "subject": change.subject,
        "name": change.name,
        "before": change.before,
        "after": change.after,
        "reason": change.reason,
    }
    logger.log(
        level,
        "Health of %s: %s -> %s",
        change.name,
        change.before or "new",
        change.after,
        extra={"fields": fields},
    )
