"""Letting go of the database."""

from __future__ import annotations

from django.db import connections


def release_database() -> None:
    """Close every connection: whoever merely oversees processes needs none."""
    for opened in connections.all(initialized_only=True):
        opened.close()
        close_pool = getattr(opened, "close_pool", None)
        if close_pool is not None:
            close_pool()
