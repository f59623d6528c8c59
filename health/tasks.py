"""What the beat has done for health: rounds of checks, and tidying up."""

from __future__ import annotations

from celery import shared_task

from health import record
from health.rounds import make_round
from tools.execution.background import background


@shared_task(ignore_result=True, acks_late=False)
def check_health() -> None:
    """Make a round of all checks."""
    background.run(make_round)


@shared_task(ignore_result=True)
def prune_health() -> int:
    """Remove snapshots that outlived their retention."""
    return record.prune()
