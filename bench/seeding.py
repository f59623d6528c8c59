"""Fills a database with a long request log: made-up calls, written by the fastest way there is.

    python -m bench.seeding [--rows 1000000] [--tools 500] [--callers 40] [--days 30]

writes to the database of DATABASE_URL, or of VAR_DIR, which must be migrated and is best thrown away
afterwards. Others call `seed_journal` once Django is set up.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

AT_ONCE: Final = 20_000
# Of all calls, how many left a body.
WITH_BODY: Final = 20
BODY: Final = '{"answer": "made up", "documents": [1, 2, 3]}'


@dataclass(frozen=True, slots=True)
class Seeded:
    """What was made. `busiest` and `rarest` are names of tools, `caller` is the busiest caller."""

    rows: int
    since: datetime
    until: datetime
    busiest: str
    rarest: str
    caller: str


def seed_journal(
    rows: int = 1_000_000,
    tools: int = 500,
    callers: int = 40,
    days: float = 30.0,
    *,
    until: datetime | None = None,
    seed: int = 7,
) -> Seeded:
    """Tools and clients that were not there yet, and `rows` calls of theirs up to `until` (now)."""
    from django.db import connection

    from bench.seeding_calls import Calls, tool_name

    end = until or datetime.now(UTC)
    since = end - timedelta(days=days)
    seed_tools(tools)
    references = seed_clients(callers)
    made = Calls(tools, references, seed).rows(rows, since, end)
    if connection.vendor == "postgresql":
        _make_days(since, end)
        _copy(made)
    else:
        _insert(made)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return Seeded(rows, since, end, tool_name(0), tool_name(tools - 1), references[0])


def seed_tools(count: int) -> None:
    from bench.seeding_calls import source_of, tool_name
    from tools.models import Tool

    there = set(Tool.objects.values_list("name", flat=True))
    Tool.objects.bulk_create(
        (
            Tool(
                name=tool_name(number),
                description=f"Made up, number {number}.",
                input_schema={"type": "object", "properties": {"query": {"type": "string"}}},
                source=source_of(number),
                # Built-ins are looked for; others are missed by nobody before they are called.
                handler="server_metrics" if source_of(number) == "builtin" else f"made_{number}",
            )
            for number in range(count)
            if tool_name(number) not in there
        ),
    )


def seed_clients(count: int) -> list[str]:
    """References of the clients, as the request log has them."""
    from tools.models import ApiClient

    names = [f"Client {number:02}" for number in range(1, count + 1)]
    there = set(ApiClient.objects.values_list("name", flat=True))
    ApiClient.objects.bulk_create(
        ApiClient(name=name, key_hash=f"{place:064x}", key_hint=f"cp_{place:04}")
        for place, name in enumerate(names)
        if name not in there
    )
    keys = dict(ApiClient.objects.filter(name__in=names).values_list("name", "pk"))
    return [f"client:{keys[name]}" for name in names]


def _insert(rows: Iterable[dict[str, Any]]) -> None:
    """Into SQLite."""
    from django.db import connection, transaction

    from tools.models import ToolRequest, ToolResponse

    for batch in _batches(rows):
        plain = [_plain(row) for row in batch]
        bodies = [_body(row) for row in plain[::WITH_BODY]]
        with transaction.atomic(), connection.cursor() as cursor:
            for table, values in (
                (ToolRequest._meta.db_table, plain),
                (ToolResponse._meta.db_table, bodies),
            ):
                places = ", ".join(["%s"] * len(values[0]))
                cursor.executemany(
                    f"INSERT INTO {table} ({', '.join(values[0])}) VALUES ({places})",  # noqa: S608 - our own names
                    [tuple(row.values()) for row in values],
                )


def _copy(rows: Iterable[dict[str, Any]]) -> None:
    """Into PostgreSQL."""
    from django.db import connection, transaction

    from tools.models import ToolRequest, ToolResponse

    for batch in _batches(rows):
        bodies = [_body(row) for row in batch[::WITH_BODY]]
        with transaction.atomic(), connection.cursor() as wrapper:
            # Of the driver's own: Django's has no COPY.
            cursor: Any = wrapper.cursor
            for table, values in (
                (ToolRequest._meta.db_table, batch),
                (ToolResponse._meta.db_table, bodies),
            ):
                with cursor.copy(f"COPY {table} ({', '.join(values[0])}) FROM STDIN") as sink:
                    for row in values:
                        sink.write_row(tuple(row.values()))


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Each with its columns in one order."""
    from tools.models.journal_events import WHOLE

    ordered = ({name: row[name] for name in WHOLE} for row in rows)
    while batch := list(islice(ordered, AT_ONCE)):
        yield batch


def _body(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "call_id": row["call_id"],
        "received_at": row["received_at"],
        "response_id": row["request_id"],
        "body": BODY,
        "truncated": False,
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """The row as SQLite takes it, which has neither times nor UUIDs of its own."""
    for name in ("received_at", "deadline_at", "finished_at"):
        if row[name] is not None:
            row[name] = str(row[name]).removesuffix("+00:00")
    for name in ("call_id", "request_id"):
        row[name] = row[name].hex
    return row


def _make_days(since: datetime, until: datetime) -> None:
    from tools.services.prune_journal import make_partition, partition_name, partitions, tables

    for table in tables():
        existing = set(partitions(table))
        for offset in range((until.date() - since.date()).days + 1):
            day = since.date() + timedelta(days=offset)
            if partition_name(table, day) not in existing:
                make_partition(table, day)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--tools", type=int, default=500)
    parser.add_argument("--callers", type=int, default=40)
    parser.add_argument("--days", type=float, default=30.0)
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench.settings")
    import django

    django.setup()
    began = time.monotonic()
    made = seed_journal(chosen.rows, chosen.tools, chosen.callers, chosen.days)
    print(f"{made.rows:,} calls in {time.monotonic() - began:.0f} s, {made.since} to {made.until}")


if __name__ == "__main__":
    main()
