"""What of health and of the schedule is written down in the audit trail."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from health.models import HealthWebhook, ServiceLevelObjective
from tools.services.audit.receivers import watch
from tools.services.audit.watched import Watched


def watch_health() -> None:
    """Write down every change of these from now on."""
    watch(Watched(ServiceLevelObjective))
    watch(Watched(HealthWebhook, masked=frozenset({"secret"}), shown={"url": _host}))
    # The beat keeps its own notes in the same rows.
    notes = frozenset({"last_run_at", "total_run_count", "date_changed"})
    watch(Watched(PeriodicTask, ignored=notes))
    # Times are rows of their own: whoever changes one changes when the tasks on it are due.
    for times in (IntervalSchedule, CrontabSchedule, ClockedSchedule, SolarSchedule):
        watch(Watched(times))


def _host(url: Any) -> str:
    """An address without its path, which may be a secret."""
    parts = urlsplit(str(url or ""))
    return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else ""
