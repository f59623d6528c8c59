"""The request log is read by its indexes, on both databases; a whole table is never read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from bench.seeding import Seeded, seed_journal
from tools.selectors.request_log import Cursor, Sought, way_to
from tools.selectors.request_log.pages import _edge, ordered

pytestmark = pytest.mark.django_db

WAYS = {
    "journal_by_arrival": Sought(),
    "journal_by_tool": Sought(tool="tool_009"),
    "journal_by_caller": Sought(caller="client:0"),
    "journal_correlated": Sought(correlation="trace-0"),
    "journal_by_thread": Sought(thread="thread-0"),
    "journal_failures": Sought(statuses=("failure", "timeout")),
    "journal_slow": Sought(least_ms=20_000),
    "journal_still_open": Sought(running=True),
}


@pytest.fixture(scope="module")
def seeded(django_db_setup: None, django_db_blocker: Any) -> Iterator[Seeded]:
    """A log of some length, for all tests here; planners choose by what they know of it."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        # Up to noon at any time of the day: which index is cheaper depends on how full the days are.
        noon = datetime.now(UTC).replace(hour=12, minute=0) - timedelta(days=1)
        made = seed_journal(rows=4_000, tools=20, callers=10, days=2.0, until=noon)
        if connection.vendor == "postgresql":
            # A day this short would be read as a whole, whatever indexes there are.
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")
        yield made
        transaction.set_rollback(True)


def plan(rows: QuerySet[Any]) -> str:
    """How the database means to read; on PostgreSQL with the names of indexes of the whole table."""
    if connection.vendor == "sqlite":
        return rows.explain()
    told = rows.explain()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT child.relname, parent.relname FROM pg_inherits"
            " JOIN pg_class child ON child.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent"
            " WHERE parent.relkind = 'I' ORDER BY length(child.relname) DESC"
        )
        for child, parent in cursor.fetchall():
            told = told.replace(f" {child} ", f" {parent} ")
    return told


def whole_table(told: str) -> bool:
    lines = told.splitlines()
    if connection.vendor == "sqlite":
        return any("SCAN tools_toolrequest" in line and "INDEX" not in line for line in lines)
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > 0")
        filled = {name for (name,) in cursor.fetchall()}
    # Of a partition that is empty, reading all is reading nothing.
    scanned = {line.split("Seq Scan on ")[1].split()[0] for line in lines if "Seq Scan on" in line}
    return bool(scanned & filled)


@pytest.mark.parametrize("index", WAYS)
def test_each_way_has_its_index(seeded: Seeded, index: str) -> None:
    way = way_to(WAYS[index])
    told = plan(ordered(way, way.matching(way.rows))[:51])
    assert index in told
    assert not whole_table(told)
    if index != "journal_still_open":
        edge = way.rows.order_by("-received_at").values("received_at")[999:1000]
        assert index in plan(edge)


def test_a_later_page_begins_at_its_place(seeded: Seeded) -> None:
    place = Cursor(seeded.since + (seeded.until - seeded.since) / 2)
    for way in (way_to(Sought()), way_to(Sought(tool="tool_009"))):
        told = plan(ordered(way, place.older(way.rows))[:51])
        assert not whole_table(told)
        assert "received_at" in told.replace("journal_by_arrival", "").replace("DESC", "")


@pytest.mark.parametrize("index", [name for name in WAYS if name != "journal_still_open"])
def test_a_step_from_a_call_to_the_next_takes_the_index_of_its_way(
    seeded: Seeded, index: str
) -> None:
    way = way_to(WAYS[index])
    place = Cursor.at(way_to(Sought()).rows.order_by("received_at")[2_000])
    for forward, rows in ((False, place.older(way.rows)), (True, place.newer(way.rows))):
        told = plan(ordered(way, rows, forward)[:1])
        assert index in told
        assert not whole_table(told)


def test_ids_are_found_by_their_indexes(seeded: Seeded) -> None:
    call = way_to(Sought()).rows[0]
    way = way_to(Sought(identifier=call.request_id))
    assert [one.pk for one in way.rows] == [call.pk]
    assert not whole_table(plan(ordered(way, way.rows)[:51]))


def test_a_piece_ends_where_its_last_call_arrived(seeded: Seeded) -> None:
    rows = way_to(Sought()).rows
    times = list(rows.order_by("-received_at").values_list("received_at", flat=True)[:1000])
    assert _edge(rows, 1000, forward=False) == times[-1]
