"""Answers shared for a moment."""

from __future__ import annotations

import asyncio

import pytest
from typing_extensions import override

from tools.backends.memo import Memo


class Source:
    """Computes numbers that grow, when it is let."""

    def __init__(self) -> None:
        self.computed = 0
        self.go = asyncio.Event()
        self.go.set()
        self.fail = False

    async def __call__(self) -> int:
        self.computed += 1
        number = self.computed
        await self.go.wait()
        if self.fail:
            raise ValueError("on command")
        return number


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_value_is_computed_once_until_its_time_is_over() -> None:
    clock, source = Clock(), Source()
    memo: Memo[int] = Memo(1.0, clock=clock)
    assert [await memo.get("a", source) for _ in range(3)] == [1, 1, 1]
    clock.now += 0.99
    assert await memo.get("a", source) == 1
    clock.now += 0.02
    assert await memo.get("a", source) == 2


async def test_keys_have_values_of_their_own() -> None:
    memo: Memo[int] = Memo(1.0)
    first, second = Source(), Source()
    await memo.get("a", first)
    await memo.get(("b", None), second)
    assert (first.computed, second.computed) == (1, 1)


async def test_concurrent_askers_share_one_computation() -> None:
    memo: Memo[int] = Memo(1.0)
    source = Source()
    source.go.clear()
    asking = [asyncio.create_task(memo.get("a", source)) for _ in range(20)]
    while not source.computed:
        await asyncio.sleep(0)
    source.go.set()
    assert await asyncio.gather(*asking) == [1] * 20
    assert source.computed == 1


async def test_a_cancelled_asker_does_not_take_the_answer_from_the_others() -> None:
    memo: Memo[int] = Memo(1.0)
    source = Source()
    source.go.clear()
    first, second = (asyncio.create_task(memo.get("a", source)) for _ in range(2))
    while not source.computed:
        await asyncio.sleep(0)
    first.cancel()
    source.go.set()
    assert await second == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_failure_reaches_all_who_waited_and_is_not_kept() -> None:
    memo: Memo[int] = Memo(1.0)
    source = Source()
    source.fail = True
    results = await asyncio.gather(
        memo.get("a", source), memo.get("a", source), return_exceptions=True
    )
    assert [type(result) for result in results] == [ValueError, ValueError]
    source.fail = False
    assert await memo.get("a", source) == 2


def test_a_value_outlives_the_event_loop_it_was_computed_on() -> None:
    clock = Clock()
    memo: Memo[int] = Memo(1.0, clock=clock)

    async def number() -> int:
        return 5

    assert asyncio.run(memo.get("a", number)) == 5
    assert asyncio.run(memo.get("a", number)) == 5
    clock.now += 2
    assert asyncio.run(memo.get("a", number)) == 5


async def test_values_whose_time_is_over_are_let_go() -> None:
    clock = Clock()
    memo: Memo[int] = Memo(1.0, clock=clock)
    source = Source()
    for key in range(100):
        await memo.get(key, source)
    clock.now += 2
    await memo.get("new", source)
    assert len(memo._kept) == 1
    memo.clear()
    assert not memo._kept


class Slow(Source):
    """Takes a given time on the clock of the test."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        super().__init__()
        self._clock, self._takes = clock, seconds

    @override
    async def __call__(self) -> int:
        number = await super().__call__()
        self._clock.now += self._takes
        return number


async def test_a_dear_value_is_kept_in_proportion_to_its_cost() -> None:
    clock = Clock()
    source = Slow(clock, 0.5)
    memo: Memo[int] = Memo(1.0, rest=10, clock=clock)
    assert await memo.get("a", source) == 1
    clock.now += 4.9
    assert await memo.get("a", source) == 1
    clock.now += 0.2
    assert await memo.get("a", source) == 2


async def test_a_value_within_its_grace_is_served_while_it_is_renewed() -> None:
    clock = Clock()
    source = Slow(clock, 0.5)
    memo: Memo[int] = Memo(1.0, grace=4, clock=clock)
    assert await memo.get("a", source) == 1
    source.go.clear()
    clock.now += 1.5
    assert [await memo.get("a", source) for _ in range(3)] == [1, 1, 1]
    while source.computed < 2:
        await asyncio.sleep(0)
    # Past its grace an answer is worth waiting for.
    clock.now += 2.0
    waiting = asyncio.create_task(memo.get("a", source))
    source.go.set()
    assert await waiting == 2
    assert source.computed == 2


async def test_a_renewal_that_fails_leaves_the_old_value_until_its_grace_is_over() -> None:
    clock = Clock()
    source = Slow(clock, 0.5)
    memo: Memo[int] = Memo(1.0, grace=4, clock=clock)
    await memo.get("a", source)
    source.fail = True
    clock.now += 1.5
    assert await memo.get("a", source) == 1
    while memo._running:
        await asyncio.sleep(0)
    clock.now += 2.0
    with pytest.raises(ValueError, match="on command"):
        await memo.get("a", source)


async def test_a_computation_that_began_before_a_clear_is_not_kept() -> None:
    memo: Memo[int] = Memo(1.0)
    source = Source()
    source.go.clear()
    waiting = asyncio.create_task(memo.get("a", source))
    while not source.computed:
        await asyncio.sleep(0)
    memo.clear()
    source.go.set()
    assert await waiting == 1
    assert await memo.get("a", source) == 2
