"""Writes reports down: the history, and every change of status as an event of its own."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection, transaction

from health.conf import health_settings
from health.findings import HealthReport
from health.models import (
    CurrentHealth,
    DeliveryState,
    HealthSnapshot,
    StatusChange,
    Subject,
    WebhookDelivery,
)
from health.webhooks.deliveries import create_deliveries, due

logger = logging.getLogger(__name__)

GOOD: Final = frozenset({"healthy", "connected"})
# Changes are few, and what an incident is told from afterwards.
CHANGES_KEPT: Final = timedelta(days=400)
# Those of deliveries that have ended are for looking into what did not arrive.
DELIVERIES_KEPT: Final = timedelta(days=30)
MOST_MISSED: Final = 100


def record(report: HealthReport, *, told: bool = False) -> list[StatusChange]:
    """Keep a report; what it changed. One that is older than the last changes nothing.

    Events for webhooks are written with the changes. Unless it is `told` already, the log has a line
    of each change.

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
        create_deliveries(changes, report)
        known.checked_at, known.report = report.checked_at, written
        known.save()
        transaction.on_commit(_send_from_here, robust=True)
    for change in changes if not told else ():
        _log(change)
    return changes


def _send_from_here() -> None:
    """Send what is due from this process, also when it is from before: workers may be away."""
    if due().exists():
        # Most processes never send anything.
        from health.webhooks.courier import send_from_here

        send_from_here()


class Keeper:
    """Keeps the reports of a process, and those that the database missed until it takes them.

    A change that nobody can write down is in the log at once. It is written, and told to webhooks, when
    the database is back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: Mapping[str, Any] | None = None
        self._missed: deque[HealthReport] = deque(maxlen=MOST_MISSED)

    def keep(self, report: HealthReport) -> bool:
        """False while the database is away."""
        with self._lock:
            try:
                while self._missed:
                    record(self._missed[0], told=True)
                    self._missed.popleft()
                record(report)
            except DatabaseError:
                # The report itself says so, and it is published.
                self._remember(report)
                return False
            self._known = report.to_json()
            return True

    def _remember(self, report: HealthReport) -> None:
        written = report.to_json()
        before, self._known = self._known, written
        if before is None:
            return
        changes = list(_changes(before, written, report.checked_at))
        if changes:
            self._missed.append(report)
        for change in changes:
            _log(change)


_keeper: Final = Keeper()


async def keep(report: HealthReport) -> bool:
    """Keep a report, from an event loop; False while the database is away."""

    def write() -> bool:
        try:
            return _keeper.keep(report)
        finally:
            connection.close()

    return await sync_to_async(write, thread_sensitive=False)()


def prune(now: datetime | None = None) -> int:
    """Remove history that outlived its retention; how many rows."""
    now = now or datetime.now(UTC)
    oldest = now - timedelta(days=health_settings().snapshot_days)
    removed, _ = HealthSnapshot.objects.filter(taken_at__lt=oldest).delete()
    others, _ = StatusChange.objects.filter(at__lt=now - CHANGES_KEPT).delete()
    ended = WebhookDelivery.objects.exclude(state=DeliveryState.WAITING)
    sent, _ = ended.filter(created_at__lt=now - DELIVERIES_KEPT).delete()
    return removed + others + sent


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
