"""The audit trail as tests read it."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from tools.models import AuditEntry


def trail_of(row: Model) -> list[AuditEntry]:
    """What was written down about a row, oldest first."""
    kind = row._meta.label_lower
    return list(AuditEntry.objects.filter(kind=kind, object_id=str(row.pk)).order_by("pk"))


def latest() -> AuditEntry:
    """The newest entry of all."""
    found = AuditEntry.objects.first()
    assert found is not None
    return found


def became(entry: AuditEntry, field: str) -> tuple[Any, Any]:
    """A field before and after; "-" where the row did not exist."""
    change = entry.changes[field]
    return change.get("before", "-"), change.get("after", "-")
