"""Slots: never more holders than the limit, over tasks and processes, and none that stays taken."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack

import pytest

from tests.tools.guards.support import OwnValkey, eventually
from tools.guards import concurrency
from tools.guards.concurrency import Slots, SlotsFull
from tools.guards.redis import RedisDown, RedisLink

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
async def slots(link: RedisLink) -> AsyncIterator[Slots]:
    made = Slots(link)
    yield made
    await made.close()


@pytest.fixture
async def elsewhere(other_link: RedisLink) -> AsyncIterator[Slots]:
    """The slots as another process sees them."""
    made = Slots(other_link)
    yield made
    await made.close()


@pytest.fixture
def worker(redis_url: str) -> Iterator[Start]:
    """Starts processes that hold slots; what still runs at the end is killed."""
    with ExitStack() as running:

        def start(mode: str, *arguments: object) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.tools.guards.slot_worker", mode, redis_url]
                + [str(argument) for argument in arguments],
                stdout=subprocess.PIPE,
                text=True,
            )
            running.enter_context(process)
            running.callback(process.kill)
            return process

        yield start


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def line_from(process: subprocess.Popen[str]) -> str:
    return await asyncio.to_thread(line_of, process)


async def queued(link: RedisLink, name: str, number: int) -> None:
    """Wait until so many stand in the queue."""

    async def enough() -> bool:
        return bool(await link.command("ZCARD", f"cp:slots:{name}:queue") == number)

    await eventually(enough, what=f"a queue of {number}")


async def test_sixth_holder_is_refused_at_once_when_it_will_not_wait(slots: Slots) -> None:
    # S0-058, C09
    async with AsyncExitStack() as held:
        for _ in range(5):
            await held.enter_async_context(slots.hold("rag_basic", 5, 0))
        assert await slots.usage("rag_basic") == 5
        with pytest.raises(SlotsFull) as refused:
            async with slots.hold("rag_basic", 5, 0):
                pytest.fail("a sixth slot was given out")
        assert refused.value.retry_after > 0
    assert await slots.usage("rag_basic") == 0


async def test_sixth_holder_waits_for_a_slot_to_come_free(link: RedisLink, slots: Slots) -> None:
    # S0-058, C09
    leave = asyncio.Event()
    order: list[str] = []

    async def first() -> None:
        async with slots.hold("rag_basic", 5, 0):
            await leave.wait()
            order.append("left")

    async def sixth() -> None:
        async with slots.hold("rag_basic", 5, 30):
            order.append("entered")

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(first())
        await eventually(lambda: _usage_is(slots, "rag_basic", 5))
        group.create_task(sixth())
        await queued(link, "rag_basic", 1)
        leave.set()
    assert order[0] == "left"
    assert "entered" in order
    assert await slots.usage("rag_basic") == 0


async def _usage_is(slots: Slots, name: str, number: int) -> bool:
    return await slots.usage(name) == number


async def test_waiter_is_refused_when_its_time_is_over(link: RedisLink, slots: Slots) -> None:
    # C09
    async with slots.hold("t", 1, 0):
        with pytest.raises(SlotsFull):
            async with slots.hold("t", 1, 0.1):
                pytest.fail("a second slot was given out")
        await queued(link, "t", 0)


async def test_processes_share_the_slots_of_a_name(slots: Slots, elsewhere: Slots) -> None:
    async with slots.hold("t", 1, 0):
        assert await elsewhere.usage("t") == 1
        with pytest.raises(SlotsFull):
            async with elsewhere.hold("t", 1, 0):
                pytest.fail("a second slot was given out")
        async with elsewhere.hold("another", 1, 0):
            assert await slots.usage("another") == 1


async def test_limit_below_one_is_an_error(slots: Slots) -> None:
    # S0-058
    with pytest.raises(ValueError, match="at least one"):
        async with slots.hold("t", 0, 0):
            pytest.fail("a slot of none was given out")


async def test_failing_holder_gives_its_slot_back(slots: Slots) -> None:
    with pytest.raises(RuntimeError):
        async with slots.hold("t", 1, 0):
            raise RuntimeError
    assert await slots.usage("t") == 0


async def test_cancelled_holder_gives_its_slot_back(slots: Slots) -> None:
    entered = asyncio.Event()

    async def work() -> None:
        async with slots.hold("t", 1, 0):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await entered.wait()
    task.cancel()
    # Once more while it is giving the slot back.
    asyncio.get_running_loop().call_soon(task.cancel)
    await asyncio.gather(task, return_exceptions=True)
    await eventually(lambda: _usage_is(slots, "t", 0))


async def test_holder_cancelled_at_any_moment_of_its_entry_leaks_no_slot(slots: Slots) -> None:
    async def work() -> None:
        async with slots.hold("t", 1, 5):
            await asyncio.sleep(0)

    for turns in range(40):
        task = asyncio.create_task(work())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await slots.usage("t") == 0


async def test_cancelled_waiter_leaves_the_queue_to_the_next(link: RedisLink, slots: Slots) -> None:
    entered: list[str] = []

    async def wait(name: str) -> None:
        async with slots.hold("t", 1, 30):
            entered.append(name)

    async with slots.hold("t", 1, 0):
        first = asyncio.create_task(wait("first"))
        await queued(link, "t", 1)
        second = asyncio.create_task(wait("second"))
        await queued(link, "t", 2)
        first.cancel()
        await queued(link, "t", 1)
    await second
    assert entered == ["second"]


async def test_waiters_enter_in_order_of_arrival_over_processes(
    link: RedisLink, slots: Slots, elsewhere: Slots
) -> None:
    entered: list[int] = []

    async def wait(side: Slots, number: int) -> None:
        async with side.hold("t", 1, 30):
            entered.append(number)

    async with asyncio.TaskGroup() as group, slots.hold("t", 1, 0):
        for number in range(8):
            group.create_task(wait((slots, elsewhere)[number % 2], number))
            await queued(link, "t", number + 1)
    assert entered == list(range(8))


async def test_newcomer_does_not_overtake_a_waiter(link: RedisLink, slots: Slots) -> None:
    async with AsyncExitStack() as held:
        await held.enter_async_context(slots.hold("t", 1, 0))
        # A waiter of a process that was stopped between two questions.
        await link.command("ZADD", "cp:slots:t:queue", 1, "feed:1")
        await link.command("ZADD", "cp:slots:t:alive", 9_000_000_000, "feed:1")
        await held.aclose()
        with pytest.raises(SlotsFull):
            async with slots.hold("t", 1, 0):
                pytest.fail("the waiter was overtaken")


@pytest.mark.parametrize("side", ["same", "other"])
async def test_waiter_is_woken_without_asking_again(
    link: RedisLink, slots: Slots, elsewhere: Slots, monkeypatch: pytest.MonkeyPatch, side: str
) -> None:
    monkeypatch.setattr(concurrency, "ASK_EVERY", 600.0)
    monkeypatch.setattr(concurrency, "PATIENCE", 600.0)
    waiting_side = slots if side == "same" else elsewhere

    async def wait() -> None:
        async with waiting_side.hold("t", 1, 500):
            pass

    async with slots.hold("t", 1, 0):
        waiter = asyncio.create_task(wait())
        await queued(link, "t", 1)
    async with asyncio.timeout(5):
        await waiter


async def test_lost_wake_up_is_made_good_by_asking_again(
    link: RedisLink, slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concurrency, "_WAKE_PREFIX", "cp:slots:nobody-listens:")
    waiter: asyncio.Task[None]

    async def wait() -> None:
        async with slots.hold("t", 1, 30):
            pass

    async with slots.hold("t", 1, 0):
        waiter = asyncio.create_task(wait())
        await queued(link, "t", 1)
        monkeypatch.undo()
    async with asyncio.timeout(10):
        await waiter


async def test_raised_limit_lets_more_in_while_slots_are_held(slots: Slots) -> None:
    async with slots.hold("t", 1, 0), slots.hold("t", 2, 0):
        assert await slots.usage("t") == 2


async def test_lowered_limit_holds_for_newcomers_until_enough_have_left(slots: Slots) -> None:
    async with slots.hold("t", 3, 0):
        async with slots.hold("t", 3, 0), slots.hold("t", 3, 0):
            with pytest.raises(SlotsFull):
                async with slots.hold("t", 2, 0):
                    pytest.fail("more than the new limit")
        async with slots.hold("t", 2, 0):
            assert await slots.usage("t") == 2


async def test_slot_is_kept_for_longer_than_its_lease(link: RedisLink, elsewhere: Slots) -> None:
    short = Slots(link, lease_seconds=0.3)
    async with short.hold("t", 1, 0):
        with pytest.raises(SlotsFull):
            async with elsewhere.hold("t", 1, 1.2):
                pytest.fail("the lease of a living holder ran out")
    await short.close()


async def test_slot_that_redis_lost_is_taken_again_while_the_work_goes_on(link: RedisLink) -> None:
    slots = Slots(link, lease_seconds=0.6)
    async with slots.hold("t", 1, 0), slots.hold("u", 1, 0):
        await link.command("FLUSHALL")
        assert await slots.usage("t") == 0
        await eventually(lambda: _usage_is(slots, "t", 1))
        await eventually(lambda: _usage_is(slots, "u", 1))
    assert (await slots.usage("t"), await slots.usage("u")) == (0, 0)
    await slots.close()


async def test_idle_names_leave_nothing_behind_in_redis(link: RedisLink, slots: Slots) -> None:
    async with slots.hold("t", 1, 0):
        assert 0 < await link.command("PTTL", "cp:slots:t:held") <= 10_000
    assert await link.command("KEYS", "*") == []


async def test_closing_leaves_no_task_behind(link: RedisLink, slots: Slots) -> None:
    async with slots.hold("t", 1, 0):
        with pytest.raises(SlotsFull):
            async with slots.hold("t", 1, 0.05):
                pytest.fail("a second slot was given out")
        await slots.close()
    names = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    assert not {name for name in names if name.startswith("Slots.")}


async def test_limit_is_never_exceeded_over_processes(
    link: RedisLink, slots: Slots, worker: Start
) -> None:
    # S0-058, C09
    processes = [worker("load", "rag_basic", 5, 8, 25) for _ in range(3)]
    assert [await line_from(process) for process in processes] == ["finished"] * 3
    assert await link.command("GET", "most") == "5"
    assert await link.command("GET", "done") == str(3 * 8 * 25)
    assert await slots.usage("rag_basic") == 0


async def test_slot_of_a_killed_holder_comes_free(slots: Slots, worker: Start) -> None:
    # S0-058
    holder = worker("hold", "t", 1, 1.0)
    assert await line_from(holder) == "held"
    with pytest.raises(SlotsFull):
        async with slots.hold("t", 1, 0):
            pytest.fail("a second slot was given out")
    holder.kill()
    async with slots.hold("t", 1, 10):
        assert await slots.usage("t") == 1


async def test_slot_of_a_killed_holder_comes_free_beside_one_that_lives(
    slots: Slots, worker: Start
) -> None:
    # S0-058
    async with slots.hold("t", 2, 0):
        holder = worker("hold", "t", 2, 1.0)
        assert await line_from(holder) == "held"
        holder.kill()
        async with slots.hold("t", 2, 10):
            assert await slots.usage("t") == 2


async def test_killed_waiter_does_not_hold_up_the_queue(
    link: RedisLink, slots: Slots, worker: Start
) -> None:
    async with slots.hold("t", 1, 0):
        dead = worker("wait", "t", 1)
        assert await line_from(dead) == "waiting"
        await queued(link, "t", 1)
        dead.kill()
        dead.wait(10)
    async with slots.hold("t", 1, 10):
        assert await slots.usage("t") == 1


async def test_without_redis_the_limit_holds_within_a_process(dead_link: RedisLink) -> None:
    slots = Slots(dead_link)
    entered: list[int] = []

    async def wait(number: int) -> None:
        async with slots.hold("t", 2, 10):
            entered.append(number)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group, slots.hold("t", 2, 0), slots.hold("t", 2, 0):
        assert await slots.usage("t") == 2
        with pytest.raises(SlotsFull):
            async with slots.hold("t", 2, 0.05):
                pytest.fail("a third slot was given out")
        async with slots.hold("another", 1, 0):
            assert await slots.usage("another") == 1
        for number in range(6):
            group.create_task(wait(number))
            await asyncio.sleep(0)
    assert entered == list(range(6))
    assert await slots.usage("t") == 0
    await slots.close()


async def test_slots_taken_before_an_outage_count_during_it(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    slots = Slots(own_link)
    async with slots.hold("t", 1, 0):
        own_valkey.kill()
        with pytest.raises(SlotsFull):
            async with slots.hold("t", 1, 0):
                pytest.fail("a second slot was given out")
    async with slots.hold("t", 1, 0):
        assert await slots.usage("t") == 1
    await slots.close()


async def test_slots_taken_during_an_outage_count_after_it(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    slots = Slots(own_link)
    own_valkey.kill()
    with pytest.raises(RedisDown):
        await own_link.command("PING")
    async with slots.hold("t", 1, 0):
        own_valkey.start()

        async def back() -> bool:
            return own_link.available

        await eventually(back)
        with pytest.raises(SlotsFull):
            async with slots.hold("t", 1, 0):
                pytest.fail("Redis was not told what was taken without it")
        assert await own_link.command("ZCARD", "cp:slots:t:held") == 1
    assert await own_link.command("ZCARD", "cp:slots:t:held") == 0
    await slots.close()


async def test_slot_given_back_during_an_outage_is_free_after_it(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    slots = Slots(own_link, lease_seconds=600)
    async with slots.hold("t", 1, 0):
        own_valkey.kill()
    own_valkey.start()

    async def free() -> bool:
        return own_link.available and await slots.usage("t") == 0

    await eventually(free)
    await slots.close()


async def test_slot_held_through_a_restart_of_redis_is_still_held(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    slots = Slots(own_link, lease_seconds=0.5)
    async with slots.hold("t", 1, 0):
        own_valkey.kill()
        with pytest.raises(RedisDown):
            await own_link.command("PING")
        own_valkey.start()

        async def reported() -> bool:
            return own_link.available and await slots.usage("t") == 1

        await eventually(reported)
    assert await slots.usage("t") == 0
    await slots.close()


async def test_waiters_enter_after_an_outage(own_valkey: OwnValkey, own_link: RedisLink) -> None:
    slots = Slots(own_link)
    entered = 0

    async def work() -> None:
        nonlocal entered
        async with slots.hold("t", 2, 30):
            await asyncio.sleep(0.05)
            entered += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(30):
            group.create_task(work())
        await queued(own_link, "t", 28)
        own_valkey.kill()
        await asyncio.to_thread(own_valkey.start)
    assert entered == 30
    await slots.close()
