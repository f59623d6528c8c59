"""The checks of what the service leans on."""

from __future__ import annotations

from health.checks.base import DependencyCheck, Overrun, ThreadedCheck
from health.checks.broker import Beat, Queues, Redis, Worker
from health.checks.database import Database
from health.checks.disk import Disk

__all__ = [
    "Beat",
    "Database",
    "DependencyCheck",
    "Disk",
    "Overrun",
    "Queues",
    "Redis",
    "ThreadedCheck",
    "Worker",
]
