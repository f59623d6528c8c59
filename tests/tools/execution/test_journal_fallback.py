"""Writing the journal without Redis: nobody waits for long, and nobody for ever."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.events import closing
from tools.contracts import time_ordered_uuid
from tools.execution.journal_fallback import DirectWriter
from tools.models import ToolRequest

pytestmark = pytest.mark.django_db(transaction=True)


def write_all(spool: Path, *events: dict[str, object]) -> None:
    async def main() -> None:
        writer = DirectWriter(spool)
        async with asyncio.timeout(15):
            await asyncio.gather(*(writer.write(event) for event in events))
            await writer.aclose()

    asyncio.run(main())


def test_events_of_concurrent_calls_are_all_written(tmp_path: Path) -> None:
    ids = [str(time_ordered_uuid()) for _ in range(50)]
    write_all(tmp_path, *(closing(call_id) for call_id in ids))
    assert {str(pk) for pk in ToolRequest.objects.values_list("pk", flat=True)} == set(ids)
    assert list(tmp_path.iterdir()) == []


def test_a_locked_database_is_not_waited_out(tmp_path: Path) -> None:
    events = [closing(str(time_ordered_uuid())) for _ in range(3)]
    with connection.cursor() as cursor:
        begin = "BEGIN IMMEDIATE" if connection.vendor == "sqlite" else "BEGIN"
        cursor.execute(begin)
        if connection.vendor != "sqlite":
            cursor.execute("LOCK TABLE tools_toolrequest IN ACCESS EXCLUSIVE MODE")
        write_all(tmp_path, *events)
        cursor.execute("ROLLBACK")
    assert ToolRequest.objects.count() == 0
    lines = [line for path in tmp_path.glob("*.events") for line in path.read_text().splitlines()]
    assert len(lines) == 3


def test_nobody_waits_for_an_event_that_can_be_kept_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "a-file-where-the-folder-should-be"
    blocked.write_text("")
    call_id = str(time_ordered_uuid())
    write_all(blocked, closing(call_id, duration_ms=-1))
    assert call_id in caplog.text


def test_an_event_with_a_bug_in_it_does_not_hang_its_call(tmp_path: Path) -> None:
    call_id = str(time_ordered_uuid())
    write_all(tmp_path, {"kind": "close", "call_id": call_id})
    assert ToolRequest.objects.count() == 0


def waits_for_locks() -> list[str]:
    """How long each connection that lies in the pool would wait for a lock."""
    connection.close()
    # Django's stubs know of no pool.
    wrapper: Any = connection
    pool = wrapper.pool
    borrowed = [pool.getconn() for _ in range(pool.get_stats()["pool_available"])]
    try:
        return [one.execute("SHOW lock_timeout").fetchone()[0] for one in borrowed]
    finally:
        for one in borrowed:
            one.rollback()
            pool.putconn(one)


@pytest.mark.on_database("postgresql")
def test_whoever_borrows_the_connection_next_waits_as_long_as_ever(tmp_path: Path) -> None:
    write_all(tmp_path, closing(str(time_ordered_uuid())))
    assert ToolRequest.objects.count() == 1
    found = waits_for_locks()
    assert found
    assert set(found) == {"0"}
