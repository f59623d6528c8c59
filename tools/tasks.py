"""Periodic Celery tasks; each calls one service."""

from __future__ import annotations

from celery import shared_task

from tools.services import prune_journal as retention


@shared_task
def prune_journal() -> int:
    """Remove request log rows that outlived their retention."""
    return retention.prune_journal()


@shared_task
def prepare_journal() -> int:
    """Make the coming days' partitions of the request log (PostgreSQL)."""
    return retention.prepare_journal()
