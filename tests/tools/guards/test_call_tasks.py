"""Tasks in Redis: one owner, one runner at a time, an end in any case."""

from __future__ import annotations

import asyncio
import random
import time
import uuid

import pytest

from tests.tools.guards.support import OwnValkey, eventually
from tools.guards.call_tasks import (
    CallTasks,
    NoRoom,
    TaskEnd,
    TaskRecord,
    TaskStatus,
    TooManyTasks,
)
from tools.guards.parts import PART_BYTES
from tools.guards.redis import RedisDown, RedisLink

OWNER = "client:1"
CALL = '{"tool": "slow"}'


def quick(link: RedisLink, **overrides: float) -> CallTasks:
    """Tasks whose times are short enough to be waited for."""
    times = {"keep_seconds": 60, "start_seconds": 60, "lease_seconds": 0.3, **overrides}
    return CallTasks(link, **times)  # type: ignore[arg-type]


async def made(tasks: CallTasks, *, run_seconds: float = 30, again: bool = True) -> str:
    record = await tasks.create(OWNER, CALL, run_seconds=run_seconds, again=again)
    return record.task_id


async def seen(tasks: CallTasks, task_id: str) -> TaskRecord:
    record = await tasks.read(task_id, OWNER)
    assert record is not None
    return record


async def ended(tasks: CallTasks, task_id: str) -> TaskRecord:
    """The task once it is over, read until then as a polling client does."""
    found: list[TaskRecord] = []

    async def over() -> bool:
        found[:] = [await seen(tasks, task_id)]
        return found[0].status not in {TaskStatus.WORKING, TaskStatus.INPUT_REQUIRED}

    await eventually(over, what="an ended task")
    return found[0]


async def test_task_is_readable_as_soon_as_it_is_made(link: RedisLink) -> None:
    tasks = CallTasks(link)
    record = await tasks.create(OWNER, CALL, run_seconds=40, again=False)
    assert await seen(tasks, record.task_id) == record
    assert record.status is TaskStatus.WORKING
    assert record.ttl_ms == (600 + 40 + 3600) * 1000


async def test_task_of_another_caller_does_not_exist(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    assert await tasks.read(task_id, "client:2") is None
    assert await tasks.cancel(task_id, "client:2") is None
    assert (await seen(tasks, task_id)).status is TaskStatus.WORKING
    assert await tasks.read(str(uuid.uuid4()), OWNER) is None
    assert await tasks.read("*", OWNER) is None
    assert await tasks.cancel("not an id", OWNER) is None


async def test_run_hands_in_an_outcome_that_can_be_read(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    assert (await tasks.claim(task_id, "a")).call == CALL
    assert await tasks.beat(task_id, "a", "half way")
    assert (await seen(tasks, task_id)).note == "half way"
    assert await tasks.finish(task_id, "a", TaskStatus.COMPLETED, '{"answer": "ü"}')
    record = await seen(tasks, task_id)
    assert (record.status, record.end) == (TaskStatus.COMPLETED, TaskEnd.NONE)
    assert record.updated > record.created
    assert await tasks.outcome(task_id) == '{"answer": "ü"}'


async def test_arguments_are_forgotten_when_the_task_is_over(link: RedisLink) -> None:
    tasks = CallTasks(link)
    finished, cancelled = await made(tasks), await made(tasks)
    await tasks.claim(finished, "a")
    await tasks.finish(finished, "a", TaskStatus.COMPLETED, "{}")
    await tasks.cancel(cancelled, OWNER)
    for task_id in (finished, cancelled):
        assert await link.command("HEXISTS", f"cp:task:{task_id}", "call") == 0


async def test_long_outcome_travels_in_parts(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    text = random.Random(3).randbytes(PART_BYTES).hex()  # noqa: S311 - filler, not a secret
    await tasks.claim(task_id, "a")
    await tasks.finish(task_id, "a", TaskStatus.COMPLETED, text)
    assert await link.command("LLEN", f"cp:task:{task_id}:outcome") > 1
    assert await tasks.outcome(task_id) == text


async def test_outcome_too_large_to_keep_is_refused(link: RedisLink) -> None:
    tasks = CallTasks(link, max_bytes=10)
    task_id = await made(tasks)
    await tasks.claim(task_id, "a")
    with pytest.raises(ValueError, match="too large"):
        await tasks.finish(task_id, "a", TaskStatus.COMPLETED, "{}")


async def test_claimed_task_is_not_given_to_a_second_runner(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    claims = await asyncio.gather(*(tasks.claim(task_id, f"runner {n}") for n in range(20)))
    assert sum(claim.call is not None for claim in claims) == 1
    assert sum(claim.busy_seconds is not None for claim in claims) == 19


async def test_cancelled_task_is_not_run_and_its_call_is_given_back_once(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    first = await tasks.cancel(task_id, OWNER)
    again = await tasks.cancel(task_id, OWNER)
    assert first is not None
    assert again is not None
    assert (first.never_run, again.never_run) == (CALL, None)
    claim = await tasks.claim(task_id, "a")
    assert (claim.call, claim.busy_seconds, claim.never_run) == (None, None, None)
    assert (await seen(tasks, task_id)).status is TaskStatus.CANCELLED


async def test_runner_of_a_cancelled_task_is_told_and_its_outcome_refused(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    await tasks.claim(task_id, "a")
    cancelled = await tasks.cancel(task_id, OWNER)
    assert cancelled is not None
    assert cancelled.never_run is None
    assert not await tasks.beat(task_id, "a")
    assert not await tasks.finish(task_id, "a", TaskStatus.COMPLETED, "{}")
    assert (await seen(tasks, task_id)).status is TaskStatus.CANCELLED
    assert await tasks.outcome(task_id) is None


async def test_finished_task_stays_finished_when_it_is_cancelled(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    await tasks.claim(task_id, "a")
    await tasks.finish(task_id, "a", TaskStatus.FAILED, "{}")
    assert await tasks.cancel(task_id, OWNER) is not None
    assert (await seen(tasks, task_id)).status is TaskStatus.FAILED


async def test_run_goes_on_when_everything_it_asked_for_was_answered(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    await tasks.claim(task_id, "a")
    assert await tasks.ask(task_id, "a", {"name": "who?", "day": "when?"})
    assert (await seen(tasks, task_id)).status is TaskStatus.INPUT_REQUIRED
    assert await tasks.beat(task_id, "a")
    assert await tasks.answer(task_id, OWNER, {"name": "Ann", "weather": "not asked"})
    assert await tasks.asked(task_id) == {"day": "when?"}
    assert await tasks.collect(task_id, "a") == {}
    assert (await seen(tasks, task_id)).status is TaskStatus.INPUT_REQUIRED
    assert await tasks.answer(task_id, OWNER, {"name": "too late", "day": "Monday"})
    assert (await seen(tasks, task_id)).status is TaskStatus.WORKING
    assert await tasks.collect(task_id, "a") == {"name": "Ann", "day": "Monday"}
    assert await tasks.finish(task_id, "a", TaskStatus.COMPLETED, "{}")


async def test_only_the_owner_answers_and_only_the_runner_asks(link: RedisLink) -> None:
    tasks = CallTasks(link)
    task_id = await made(tasks)
    await tasks.claim(task_id, "a")
    assert not await tasks.ask(task_id, "b", {"name": "who?"})
    assert await tasks.ask(task_id, "a", {"name": "who?"})
    assert not await tasks.answer(task_id, "client:2", {"name": "Eve"})
    assert not await tasks.answer("nonsense", OWNER, {})
    assert await tasks.asked(task_id) == {"name": "who?"}
    await tasks.cancel(task_id, OWNER)
    assert await tasks.asked(task_id) == {}
    assert await tasks.answer(task_id, OWNER, {"name": "Ann"})
    assert await tasks.collect(task_id, "a") == {}


async def test_task_that_waits_for_answers_of_a_dead_run_starts_anew(link: RedisLink) -> None:
    tasks = quick(link)
    task_id = await made(tasks)
    await tasks.claim(task_id, "dead")
    await tasks.ask(task_id, "dead", {"name": "who?"})

    async def queued() -> bool:
        return (await seen(tasks, task_id)).run_again is not None

    await eventually(queued, what="a queued task")
    assert (await seen(tasks, task_id)).status is TaskStatus.WORKING
    assert await tasks.asked(task_id) == {}
    assert (await tasks.claim(task_id, "alive")).call == CALL


async def test_task_no_worker_takes_in_time_is_given_up_once(link: RedisLink) -> None:
    tasks = quick(link, start_seconds=0.2)
    task_id = await made(tasks)
    record = await ended(tasks, task_id)
    assert (record.status, record.end) == (TaskStatus.FAILED, TaskEnd.LATE)
    assert record.never_run == CALL
    assert (await seen(tasks, task_id)).never_run is None
    assert (await tasks.claim(task_id, "a")).call is None


async def test_worker_that_comes_too_late_gets_the_call_to_write_it_off(link: RedisLink) -> None:
    tasks = quick(link, start_seconds=0)
    task_id = await made(tasks)
    claim = await tasks.claim(task_id, "a")
    assert (claim.call, claim.never_run) == (None, CALL)
    assert (await seen(tasks, task_id)).end is TaskEnd.LATE


async def test_task_of_a_dead_worker_is_queued_again_by_one_reader(link: RedisLink) -> None:
    tasks = quick(link)
    task_id = await made(tasks, run_seconds=30)
    await tasks.claim(task_id, "dead")
    orders: list[float] = []

    async def queued() -> bool:
        records = await asyncio.gather(*(seen(tasks, task_id) for _ in range(5)))
        assert all(record.status is TaskStatus.WORKING for record in records)
        orders.extend(record.run_again for record in records if record.run_again is not None)
        return bool(orders)

    await eventually(queued, what="a queued task")
    assert orders == [30]
    assert (await tasks.claim(task_id, "alive")).call == CALL
    assert not await tasks.beat(task_id, "dead")
    assert not await tasks.finish(task_id, "dead", TaskStatus.COMPLETED, "{}")
    assert await tasks.finish(task_id, "alive", TaskStatus.COMPLETED, "{}")


async def test_task_that_must_not_run_twice_fails_with_its_worker(link: RedisLink) -> None:
    tasks = quick(link)
    task_id = await made(tasks, again=False)
    await tasks.claim(task_id, "dead")
    record = await ended(tasks, task_id)
    assert (record.status, record.end) == (TaskStatus.FAILED, TaskEnd.LOST)
    assert (await tasks.claim(task_id, "alive")).call is None


async def test_task_that_kills_every_worker_is_given_up(link: RedisLink) -> None:
    tasks = quick(link, lease_seconds=0.05)
    task_id = await made(tasks)
    runs = 0

    async def refused() -> bool:
        nonlocal runs
        claim = await tasks.claim(task_id, f"runner {runs}")
        runs += claim.call is not None
        return claim.call is None and claim.busy_seconds is None

    await eventually(refused, what="a worker that is refused")
    assert runs == 3
    assert (await seen(tasks, task_id)).end is TaskEnd.LOST


async def test_beating_keeps_a_task_beyond_its_lease(link: RedisLink) -> None:
    tasks = quick(link)
    task_id = await made(tasks)
    await tasks.claim(task_id, "a")
    began = time.monotonic()

    async def long_after_the_lease() -> bool:
        assert await tasks.beat(task_id, "a")
        return time.monotonic() - began > 0.9

    await eventually(long_after_the_lease)
    assert (await tasks.claim(task_id, "b")).busy_seconds is not None
    assert (await seen(tasks, task_id)).status is TaskStatus.WORKING


async def test_run_that_never_ends_is_ended(link: RedisLink) -> None:
    tasks = quick(link)
    task_id = await made(tasks, run_seconds=0.3)
    await tasks.claim(task_id, "hung")

    async def stopped() -> bool:
        return not await tasks.beat(task_id, "hung")

    await eventually(stopped, what="a runner that is told to stop")
    assert (await seen(tasks, task_id)).end is TaskEnd.OVERDUE


async def test_reader_ends_a_run_that_is_overdue(link: RedisLink) -> None:
    tasks = quick(link, lease_seconds=30)
    task_id = await made(tasks, run_seconds=0.2)
    await tasks.claim(task_id, "hung")
    assert (await ended(tasks, task_id)).end is TaskEnd.OVERDUE


async def test_task_and_outcome_are_gone_after_their_time(link: RedisLink) -> None:
    tasks = quick(link, start_seconds=0.1, keep_seconds=0.4)
    task_id = await made(tasks, run_seconds=0.3)
    await tasks.claim(task_id, "a")
    await tasks.finish(task_id, "a", TaskStatus.COMPLETED, "{}")

    async def gone() -> bool:
        return await tasks.read(task_id, OWNER) is None

    await eventually(gone, what="an expired task")
    assert await tasks.outcome(task_id) is None
    # The next one sweeps what the books still say about it.
    await made(quick(link))
    assert await link.command("ZCARD", "cp:tasks:index") == 1
    assert await link.command("HLEN", "cp:tasks:sizes") == 2


async def test_outcome_is_kept_its_whole_time_after_a_late_start(link: RedisLink) -> None:
    tasks = quick(link, keep_seconds=50)
    task_id = await made(tasks, run_seconds=20)
    # As if it had been queued again and again until little of its time was left.
    await link.command("PEXPIRE", f"cp:task:{task_id}", 1000)
    await tasks.claim(task_id, "a")
    await tasks.finish(task_id, "a", TaskStatus.COMPLETED, "{}")
    for key in (f"cp:task:{task_id}", f"cp:task:{task_id}:outcome"):
        assert await link.command("PTTL", key) > 50_000


async def test_caller_with_many_open_tasks_gets_no_more_until_one_is_over(link: RedisLink) -> None:
    tasks = CallTasks(link, most_open=3)
    ids = [await made(tasks) for _ in range(3)]
    with pytest.raises(TooManyTasks):
        await made(tasks)
    await tasks.create("client:2", CALL, run_seconds=1, again=False)
    await tasks.cancel(ids[0], OWNER)
    ids.append(await made(tasks))
    await tasks.claim(ids[1], "a")
    await tasks.finish(ids[1], "a", TaskStatus.COMPLETED, "{}")
    ids.append(await made(tasks))
    with pytest.raises(TooManyTasks):
        await made(tasks)


async def test_no_task_is_made_when_all_take_as_much_room_as_they_may(link: RedisLink) -> None:
    tasks = CallTasks(link, max_total_bytes=2 * len(CALL))
    first = await made(tasks)
    await made(tasks)
    with pytest.raises(NoRoom):
        await made(tasks)
    await tasks.cancel(first, OWNER)
    assert await made(tasks)


async def test_discarded_task_leaves_nothing_behind(link: RedisLink) -> None:
    tasks = CallTasks(link, most_open=1)
    await tasks.discard(await made(tasks))
    await tasks.discard(await made(tasks))
    assert await link.command("KEYS", "cp:task:*") == []
    assert await link.command("ZCARD", "cp:tasks:index") == 0
    assert await link.command("HGET", "cp:tasks:sizes", "total") == "0"


async def test_tasks_survive_a_killed_redis(own_valkey: OwnValkey) -> None:
    link = RedisLink(own_valkey.url)
    tasks = CallTasks(link)
    open_task, done = await made(tasks), await made(tasks)
    await tasks.claim(done, "a")
    await tasks.finish(done, "a", TaskStatus.COMPLETED, '{"n": 1}')
    await link.close()
    own_valkey.kill()
    own_valkey.start()
    link = RedisLink(own_valkey.url)
    tasks = CallTasks(link)
    assert (await tasks.claim(open_task, "b")).call == CALL
    assert await tasks.outcome(done) == '{"n": 1}'
    await link.close()


async def test_without_redis_nothing_is_made_or_read(dead_link: RedisLink) -> None:
    tasks = CallTasks(dead_link)
    with pytest.raises(RedisDown):
        await made(tasks)
    with pytest.raises(RedisDown):
        await tasks.read(str(uuid.uuid4()), OWNER)
