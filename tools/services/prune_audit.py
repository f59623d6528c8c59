"""Removes old entries of the audit trail and versions of tools, when an operator says so; nothing else does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from tools.models import AuditEntry, ToolVersion
from tools.services.audit.recording import Action, record_action

BATCH: Final = 5_000


class Pruned(NamedTuple):
    """How many there were of each."""

    entries: int
    versions: int


def prune_audit(days: int, *, dry_run: bool = False) -> Pruned:
    """Remove entries, and versions of tools, older than so many days; the newest version of each tool stays.

    That it was done is an entry itself.
    """
    oldest = timezone.now() - timedelta(days=days)
    newer = ToolVersion.objects.filter(tool=OuterRef("tool"), number__gt=OuterRef("number"))
    entries = AuditEntry.objects.filter(at__lt=oldest)
    versions = ToolVersion.objects.filter(Exists(newer), at__lt=oldest)
    if dry_run:
        return Pruned(entries.count(), versions.count())
    before = f"from before {oldest:%Y-%m-%d %H:%M} UTC"
    return Pruned(
        _remove(entries, "audit trail", f"Entries {before}"),
        _remove(versions, "versions of tools", f"Versions {before}"),
    )


def _remove(rows: QuerySet[Any], kind: str, what: str) -> int:
    """Remove a part at a time, so that nobody has to wait for all of them."""
    removed = 0
    while part := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        with transaction.atomic():
            count, _ = rows.model.objects.filter(pk__in=part).delete()
            record_action(Action.PRUNED, kind, kind, note=f"{what}: {count:,} removed.")
        removed += count
    return removed
