"""The journal's way from the stream to the database, with parts failing on the way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.events import closing, opening
from tests.factories import make_client
from tools.contracts import time_ordered_uuid
from tools.guards.redis import JOURNAL_STREAM, REFUSED_STREAM
from tools.models import ApiClient, CatalogState, ToolRequest
from tools.services.drain_journal import GROUP, JournalDrain

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stream(redis_url: str) -> redis.Redis:
    return redis.Redis.from_url(redis_url, decode_responses=True)


def add(stream: redis.Redis, *events: dict[str, Any]) -> None:
    for event in events:
        stream.xadd(JOURNAL_STREAM, {"e": json.dumps(event)})


def drained(
    redis_url: str, spool: Path, work: Callable[[JournalDrain], Coroutine[Any, Any, Any]]
) -> None:
    async def main() -> None:
        drain = JournalDrain(redis_url, spool)
        try:
            await work(drain)
        finally:
            await drain.finish()

    asyncio.run(main())


async def one_step(drain: JournalDrain) -> None:
    await drain.step()


def test_events_end_up_as_rows_and_leave_the_stream(
    stream: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    ids = [str(time_ordered_uuid()) for _ in range(50)]
    for call_id in ids:
        add(stream, opening(call_id), closing(call_id))
    drained(redis_url, tmp_path, one_step)
    assert {str(row.pk) for row in ToolRequest.objects.all()} == set(ids)
    assert stream.xlen(JOURNAL_STREAM) == 0
    assert stream.xpending(JOURNAL_STREAM, GROUP)["pending"] == 0


def test_what_a_dead_consumer_read_is_claimed_and_written(
    stream: redis.Redis, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.services.drain_journal.CLAIM_AFTER_MS", 0)
    call_id = str(time_ordered_uuid())
    add(stream, closing(call_id))
    stream.xgroup_create(JOURNAL_STREAM, GROUP, id="0")
    stream.xreadgroup(GROUP, "killed", {JOURNAL_STREAM: ">"})
    drained(redis_url, tmp_path, JournalDrain.make_rounds)
    assert ToolRequest.objects.get().state == "completed"
    assert stream.xlen(JOURNAL_STREAM) == 0


def test_a_poisonous_event_is_set_aside_and_the_others_are_written(
    stream: redis.Redis, redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = str(time_ordered_uuid())
    add(stream, closing(str(time_ordered_uuid()), duration_ms=-5), closing(good))
    stream.xadd(JOURNAL_STREAM, {"e": "{not json"})
    drained(redis_url, tmp_path, one_step)
    assert str(ToolRequest.objects.get().pk) == good
    assert stream.xlen(JOURNAL_STREAM) == 0
    assert stream.xlen(REFUSED_STREAM) == 2


def test_a_call_whose_contents_are_refused_still_has_its_row(
    stream: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    call_id = str(time_ordered_uuid())
    add(stream, closing(call_id, parameters="{not json"))
    drained(redis_url, tmp_path, one_step)
    row = ToolRequest.objects.get(pk=call_id)
    assert (row.state, row.parameters) == ("completed", {})
    assert stream.xlen(REFUSED_STREAM) == 1


def test_a_bad_line_in_the_spool_keeps_nothing_else_back(
    stream: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    good, overdue = str(time_ordered_uuid()), str(time_ordered_uuid())
    ToolRequest.objects.apply([opening(overdue)])
    (tmp_path / "1-1.events").write_text("{torn\n" + json.dumps(closing(good)) + "\n")
    drained(redis_url, tmp_path, one_step)
    assert ToolRequest.objects.get(pk=good).state == "completed"
    assert ToolRequest.objects.get(pk=overdue).state == "failed"
    assert [path.name for path in tmp_path.iterdir()] == ["1-1.refused"]


def test_a_call_is_not_swept_while_an_event_that_may_close_it_is_pending(
    stream: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    call_id = str(time_ordered_uuid())
    ToolRequest.objects.apply([opening(call_id)])
    deadline = ToolRequest.objects.get().deadline_at
    stream.xgroup_create(JOURNAL_STREAM, GROUP, id="0", mkstream=True)
    # A living consumer read the closing event when the call ended and has not written it yet.
    event_id = f"{int(deadline.timestamp() * 1000)}-0"
    stream.xadd(JOURNAL_STREAM, {"e": json.dumps(closing(call_id))}, id=event_id)
    stream.xreadgroup(GROUP, "slow", {JOURNAL_STREAM: ">"})
    drained(redis_url, tmp_path, JournalDrain.make_rounds)
    assert ToolRequest.objects.get().state == "received"
    stream.xack(JOURNAL_STREAM, GROUP, event_id)
    stream.xdel(JOURNAL_STREAM, event_id)
    drained(redis_url, tmp_path, JournalDrain.make_rounds)
    assert ToolRequest.objects.get().state == "failed"


def test_the_spool_is_read_in_and_removed(redis_url: str, tmp_path: Path) -> None:
    call_id = str(time_ordered_uuid())
    (tmp_path / "1-1.events").write_text(json.dumps(closing(call_id)) + "\n")
    (tmp_path / "2-1.part").write_text('{"half": ')

    async def rounds(drain: JournalDrain) -> None:
        await drain.step()

    drained(redis_url, tmp_path, rounds)
    assert str(ToolRequest.objects.get().pk) == call_id
    assert [path.name for path in tmp_path.iterdir()] == ["2-1.part"]


def test_the_last_use_of_a_client_is_noted_without_a_catalogue_change(
    stream: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    client, _ = make_client()
    before = CatalogState.objects.get().version
    add(stream, closing(str(time_ordered_uuid()), caller=f"client:{client.pk}"))
    drained(redis_url, tmp_path, one_step)
    assert ApiClient.objects.get().last_used_at is not None
    assert CatalogState.objects.get().version == before


def test_an_emptied_redis_is_taken_up_again(
    stream: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    async def emptied_between(drain: JournalDrain) -> None:
        await drain.step()
        stream.flushall()
        add(stream, closing(str(time_ordered_uuid())))
        await drain.step()
        await drain.step()

    drained(redis_url, tmp_path, emptied_between)
    assert ToolRequest.objects.count() == 1


def test_a_call_whose_closing_event_is_still_unread_is_not_swept(
    stream: redis.Redis, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.services.drain_journal.BATCH", 10)
    ids = [str(time_ordered_uuid()) for _ in range(30)]
    events = [opening(call_id) for call_id in ids] + [closing(call_id) for call_id in ids]
    # As after an outage of the database: what came in long ago has not been read yet.
    arrived = int(datetime.fromisoformat(events[0]["received_at"]).timestamp() * 1000)
    for number, event in enumerate(events):
        stream.xadd(JOURNAL_STREAM, {"e": json.dumps(event)}, id=f"{arrived + number}-0")
    drained(redis_url, tmp_path, one_step)
    assert {row.state for row in ToolRequest.objects.all()} == {"completed"}
