"""The breakers in Redis, for code without an event loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.guards.breaker import BreakerRefused, Breakers, BreakerState
from tools.guards.redis import RedisDown, RedisLink
from tools.guards.sync_breaker import SyncBreakers


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(redis_url: str, clock: Clock) -> Iterator[SyncBreakers]:
    opened = SyncBreakers(redis_url, now=clock)
    yield opened
    opened.close()


def fail(breakers: SyncBreakers, times: int) -> None:
    for _ in range(times):
        breakers.report("failure", breakers.admit("llm_api"))


@pytest.mark.parametrize("name", ["llm_api", "embeddings_api", "rerank_api", "another"])
def test_breaker_opens_after_three_failures_and_closes_after_the_probe(
    breakers: SyncBreakers, clock: Clock, name: str
) -> None:
    # S2-047, S2-049
    for _ in range(3):
        breakers.report("failure", breakers.admit(name))
    with pytest.raises(BreakerRefused) as refused:
        breakers.admit(name)
    assert refused.value.retry_after == pytest.approx(60)
    clock.now += 60
    probe = breakers.admit(name)
    with pytest.raises(BreakerRefused):
        breakers.admit(name)
    breakers.report("success", probe)
    breakers.admit(name)


def test_request_that_was_given_up_counts_neither_way(breakers: SyncBreakers, clock: Clock) -> None:
    fail(breakers, 2)
    breakers.report("abandon", breakers.admit("llm_api"))
    fail(breakers, 1)
    clock.now += 60
    breakers.report("abandon", breakers.admit("llm_api"))
    breakers.report("success", breakers.admit("llm_api"))
    breakers.admit("llm_api")


async def test_web_processes_see_the_same_breaker(
    breakers: SyncBreakers, link: RedisLink, clock: Clock
) -> None:
    fail(breakers, 3)
    elsewhere = Breakers(link, now=clock)
    seen = await elsewhere.snapshot("llm_api")
    assert (seen.state, seen.failure_count, seen.failure_threshold, seen.recovery_timeout) == (
        BreakerState.OPEN,
        3,
        3,
        60,
    )
    assert await elsewhere.known() == ["llm_api"]
    await elsewhere.reset("llm_api")
    breakers.admit("llm_api")


def test_without_redis_nobody_knows(tmp_path: Path) -> None:
    breakers = SyncBreakers(f"unix://{tmp_path}/nowhere.sock")
    for _ in range(2):
        with pytest.raises(RedisDown):
            breakers.admit("llm_api")
    breakers.close()
