"""Retention of the request log: whole days on PostgreSQL, chunks elsewhere, the same outcome."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from tests.events import closing, opening
from tools.contracts import time_ordered_uuid
from tools.models import ToolRequest, ToolResponse
from tools.services.prune_journal import (
    DAYS_AHEAD,
    partition_name,
    partitions,
    prepare_journal,
    prune_journal,
    tables,
)
from tools.tasks import prepare_journal as prepare_task
from tools.tasks import prune_journal as prune_task

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def received(days_ago: float) -> str:
    call_id = str(time_ordered_uuid())
    moment = (NOW - timedelta(days=days_ago)).isoformat()
    ToolRequest.objects.apply([closing(call_id, received_at=moment)])
    return call_id


def kept() -> set[str]:
    return {str(pk) for pk in ToolRequest.objects.values_list("pk", flat=True)}


def drop_partitions() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for table in tables():
                for name in partitions(table):
                    if not name.endswith("_default"):
                        cursor.execute(f'DROP TABLE "{name}"')


@pytest.fixture(autouse=True)
def no_days_left_behind() -> None:
    drop_partitions()


def test_rows_older_than_the_retention_are_removed_with_their_bodies() -> None:
    # S0-032
    prepare_journal(NOW.date() - timedelta(days=40))
    prepare_journal(NOW.date())
    young = {received(0), received(29)}
    for age in (32, 33, 40, 400):
        received(age)
    prune_journal(NOW)
    assert kept() == young
    assert ToolResponse.objects.count() == len(young)
    drop_partitions()


def test_rows_of_days_nobody_prepared_are_kept_and_pruned_all_the_same() -> None:
    young = {received(1)}
    received(200)
    prune_journal(NOW)
    assert kept() == young


def test_coming_days_are_prepared_once_and_rows_move_into_their_day() -> None:
    early = received(0)
    made = prepare_journal(NOW.date())
    late = received(0)
    assert kept() == {early, late}
    assert prepare_journal(NOW.date()) == 0
    if connection.vendor != "postgresql":
        assert made == 0
        return
    assert made == 2 * (DAYS_AHEAD + 2)
    table = tables()[0]
    assert partition_name(table, NOW.date()) in partitions(table)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {partition_name(table, NOW.date())}")  # noqa: S608 - our own name
        assert cursor.fetchone() == (2,)
        cursor.execute(f"SELECT count(*) FROM {table}_default")  # noqa: S608 - our own name
        assert cursor.fetchone() == (0,)
    drop_partitions()


def test_closing_an_open_call_works_across_partitions() -> None:
    prepare_journal(NOW.date())
    call_id = str(time_ordered_uuid())
    moment = NOW.isoformat()
    ToolRequest.objects.apply([opening(call_id, received_at=moment)])
    ToolRequest.objects.apply([closing(call_id, received_at=moment)])
    assert ToolRequest.objects.get().state == "completed"
    drop_partitions()


def test_the_tasks_call_the_services() -> None:
    old = received(4000)
    prepare_task()
    prune_task()
    assert old not in kept()
    drop_partitions()
