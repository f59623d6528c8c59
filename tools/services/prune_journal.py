"""Keeps the request log within its retention: daily partitions on PostgreSQL, chunks elsewhere."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

from django.db import connection, transaction

from tools.conf import deployment
from tools.models import ToolRequest, ToolResponse

DAYS_AHEAD: Final = 7


def prune_journal(now: datetime | None = None) -> int:
    """Remove what is older than the retention; rows removed, or partitions on PostgreSQL."""
    before = kept_since(now)
    if connection.vendor != "postgresql":
        return ToolRequest.objects.prune(before)
    # Rows in the default partition have no day of their own to be dropped with.
    return _drop_partitions(before.date()) + ToolRequest.objects.prune(before)


def kept_since(now: datetime | None = None) -> datetime:
    """Calls from then on are in the log; whole days of them on PostgreSQL."""
    since = (now or datetime.now(UTC)) - timedelta(days=deployment().journal_retention_days)
    if connection.vendor != "postgresql":
        return since
    return datetime.combine(since.date(), datetime.min.time(), UTC)


def prepare_journal(today: date | None = None) -> int:
    """Make the partitions of the coming days; how many were missing. Nothing to do elsewhere."""
    if connection.vendor != "postgresql":
        return 0
    first = today or datetime.now(UTC).date()
    made = 0
    for table in tables():
        existing = set(partitions(table))
        if not existing:
            # Not partitioned yet: the migration that does so is still to come.
            continue
        for offset in range(-1, DAYS_AHEAD + 1):
            day = first + timedelta(days=offset)
            if partition_name(table, day) not in existing:
                make_partition(table, day)
                made += 1
    return made


def tables() -> tuple[str, str]:
    return ToolRequest._meta.db_table, ToolResponse._meta.db_table


def partition_name(table: str, day: date) -> str:
    return f"{table}_{day:%Y%m%d}"


def partitions(table: str) -> list[str]:
    """Names of the partitions of `table`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid"
            " WHERE inhparent = %s::regclass ORDER BY 1",
            [table],
        )
        return [name for (name,) in cursor.fetchall()]


def make_partition(table: str, day: date) -> None:
    """Add one day, moving over what the default partition caught of it."""
    name = connection.ops.quote_name(partition_name(table, day))
    parent = connection.ops.quote_name(table)
    default = connection.ops.quote_name(f"{table}_default")
    span = [f"{bound:%Y-%m-%d} 00:00:00+00" for bound in (day, day + timedelta(days=1))]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE {name} (LIKE {parent} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
        )
        cursor.execute(
            f"WITH moved AS (DELETE FROM {default} WHERE received_at >= %s AND received_at < %s"  # noqa: S608 - quoted names
            f" RETURNING *) INSERT INTO {name} SELECT * FROM moved",
            span,
        )
        cursor.execute(
            f"ALTER TABLE {parent} ATTACH PARTITION {name} FOR VALUES FROM ('{span[0]}') TO ('{span[1]}')"
        )


def _drop_partitions(before: date) -> int:
    dropped = 0
    for table in tables():
        limit = partition_name(table, before)
        for name in partitions(table):
            day = name.removeprefix(f"{table}_")
            if day.isdigit() and name < limit:
                with connection.cursor() as cursor:
                    cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}")
                dropped += 1
    return dropped
