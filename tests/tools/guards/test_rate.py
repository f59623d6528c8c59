"""Token buckets: shared in Redis, per process without it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.tools.guards.support import OwnValkey, counting_proxy, eventually, open_link
from tools.guards import rate
from tools.guards.rate import RateDecision, RateLimiter
from tools.guards.redis import RedisDown, RedisLink


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def spend(limiter: RateLimiter, subject: str, per_minute: int, times: int) -> list[bool]:
    decisions = await asyncio.gather(*(limiter.take(subject, per_minute) for _ in range(times)))
    return [decision.allowed for decision in decisions]


async def test_call_above_the_limit_is_refused_with_the_time_to_wait(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    remaining = [(await limiter.take("key:1", 10)).remaining for _ in range(10)]
    assert remaining == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    refused = await limiter.take("key:1", 10)
    assert not refused.allowed
    assert refused.remaining == 0
    # One token of ten per minute comes back every six seconds.
    assert 0 < refused.retry_after <= 6


async def test_processes_share_one_bucket(link: RedisLink, other_link: RedisLink) -> None:
    allowed = await asyncio.gather(
        spend(RateLimiter(link), "key:1", 20, 30), spend(RateLimiter(other_link), "key:1", 20, 30)
    )
    assert sum(map(sum, allowed)) == 20


async def test_subjects_have_buckets_of_their_own(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    await spend(limiter, "key:1", 10, 10)
    assert await limiter.take("key:2", 10) == RateDecision(True, 9, 0.0)


async def test_bucket_refills_while_time_passes(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    assert all(await spend(limiter, "key:1", 1200, 1200))

    async def allowed_again() -> bool:
        return (await limiter.take("key:1", 1200)).allowed

    await eventually(allowed_again)


async def test_refused_calls_do_not_put_the_next_allowed_one_off(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    await spend(limiter, "key:1", 10, 10)
    first = await limiter.take("key:1", 10)
    await spend(limiter, "key:1", 10, 50)
    last = await limiter.take("key:1", 10)
    assert not first.allowed
    assert last.retry_after <= first.retry_after


async def test_raised_limit_takes_effect_at_the_next_call(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    await spend(limiter, "key:1", 10, 11)
    assert await limiter.take("key:1", 20) == RateDecision(True, 9, 0.0)


async def test_lowered_limit_takes_effect_at_the_next_call(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    await spend(limiter, "key:1", 100, 10)
    assert not (await limiter.take("key:1", 10)).allowed


async def test_idle_buckets_expire(link: RedisLink) -> None:
    await RateLimiter(link).take("key:1", 10)
    keys = await link.command("KEYS", "*")
    assert keys == ["cp:rate:key:1"]
    assert 0 < await link.command("PTTL", keys[0]) <= 60_000


async def test_limit_below_one_is_an_error(link: RedisLink) -> None:
    with pytest.raises(ValueError, match="at least one"):
        await RateLimiter(link).take("key:1", 0)


async def test_without_redis_the_limit_holds_within_a_process(dead_link: RedisLink) -> None:
    clock = Clock()
    limiter = RateLimiter(dead_link, clock=clock)
    assert await spend(limiter, "key:1", 10, 12) == [True] * 10 + [False] * 2
    refused = await limiter.take("key:1", 10)
    assert refused.retry_after == pytest.approx(6)
    clock.now += 6
    assert await limiter.take("key:1", 10) == RateDecision(True, 0, 0.0)
    assert not (await limiter.take("key:1", 10)).allowed
    assert await limiter.take("key:1", 20) == RateDecision(True, 9, 0.0)
    clock.now += 3600
    assert await limiter.take("key:1", 20) == RateDecision(True, 19, 0.0)


async def test_without_redis_the_number_of_subjects_kept_is_bounded(
    dead_link: RedisLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate, "MOST_LOCAL_SUBJECTS", 3)
    limiter = RateLimiter(dead_link, clock=Clock())
    for subject in ("a", "b", "c", "a", "d"):
        await limiter.take(subject, 10)
    # "b" was used least recently and is forgotten; the others keep what they spent.
    assert [(await limiter.take(s, 10)).remaining for s in ("a", "c", "d")] == [7, 8, 8]
    assert (await limiter.take("b", 10)).remaining == 9


async def test_limit_is_shared_again_once_redis_is_back(
    own_valkey: OwnValkey, own_link: RedisLink
) -> None:
    limiter = RateLimiter(own_link)
    assert (await limiter.take("key:1", 1)).allowed
    own_valkey.kill()
    assert (await limiter.take("key:1", 1)).allowed
    with pytest.raises(RedisDown):
        await own_link.command("PING")
    own_valkey.start()

    async def back() -> bool:
        return own_link.available

    await eventually(back)
    assert not (await limiter.take("key:1", 1)).allowed


async def test_a_busy_caller_with_a_high_limit_costs_few_round_trips(
    redis_url: str, socket_folder: Path
) -> None:
    async with (
        counting_proxy(urlsplit(redis_url).path, socket_folder / "p.sock") as traffic,
        open_link(traffic.url) as link,
    ):
        limiter = RateLimiter(link)
        await limiter.take("busy", 60_000)
        before = traffic.bursts
        decisions = [await limiter.take("busy", 60_000) for _ in range(500)]
        assert all(decision.allowed for decision in decisions)
        assert traffic.bursts - before <= 10
        # What the passing time adds comes on top of what is left.
        assert all(59_000 < decision.remaining <= 60_000 for decision in decisions)


async def test_tokens_taken_in_advance_stay_within_the_limit(
    link: RedisLink, other_link: RedisLink
) -> None:
    limiters = RateLimiter(link), RateLimiter(other_link)
    taken = 0
    for _ in range(4000):
        for limiter in limiters:
            taken += (await limiter.take("greedy", 3000)).allowed
    # The bucket is empty long before; what the seconds of this test added is little.
    assert 3000 - 2 * 5 <= taken < 6000


async def test_tokens_of_another_limit_are_not_spent(link: RedisLink) -> None:
    limiter = RateLimiter(link)
    await limiter.take("changed", 60_000)
    decisions = [await limiter.take("changed", 10) for _ in range(11)]
    assert not decisions[-1].allowed
