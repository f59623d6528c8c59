"""Celery tasks: periodic ones, which call one service each, and calls that run as tasks."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

from celery import shared_task
from celery.signals import worker_process_shutdown

from tools.execution.background import background
from tools.execution.task_runs import run_task
from tools.services import prune_journal as retention

# Beside the run itself: waiting for the claim of a dead worker to end.
CLAIM_SECONDS: Final = 10
KILL_SECONDS: Final = 10
# A worker that cannot read the catalogue now tries again; tasks wait for ten minutes by default.
OPEN_EVERY: Final = 5
MOST_OPENINGS: Final = 120


@shared_task
def prune_journal() -> int:
    """Remove request log rows that outlived their retention."""
    return retention.prune_journal()


@shared_task
def prepare_journal() -> int:
    """Make the coming days' partitions of the request log (PostgreSQL)."""
    return retention.prepare_journal()


@shared_task(bind=True, ignore_result=True, max_retries=MOST_OPENINGS)
def run_call(self: Any, task_id: str, run_seconds: float) -> None:
    """Run the call behind an MCP task."""
    try:
        background.open()
    except Exception as fault:
        raise self.retry(exc=fault, countdown=OPEN_EVERY) from fault
    background.run(partial(run_task, task_id, run_seconds))


def send_call(task_id: str, run_seconds: float) -> None:
    """Hand a task to the workers.

    Raises:
        Exception: whatever the broker raises; also in a process that was given no broker.
    """
    if not run_call.app.conf.broker_url:
        raise RuntimeError("this process has no way to the workers")
    limit = math.ceil(run_seconds) + CLAIM_SECONDS
    run_call.apply_async(
        (task_id, run_seconds),
        soft_time_limit=limit,
        time_limit=limit + KILL_SECONDS,
        # Connections that died while idle are replaced; an outage is the caller's to handle.
        retry_policy={"max_retries": 1, "interval_start": 0},
    )


@worker_process_shutdown.connect
def _close_background(**kwargs: Any) -> None:
    background.close()
