"""The cache of results: lookups, eviction, and one computation for many who ask together."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.tools.guards.support import OwnValkey, eventually
from tools.errors import UpstreamFailed
from tools.guards.cache import CacheState, CacheStats, ResultCache, cache_state, make_key
from tools.guards.redis import RedisDown, RedisLink

Start = Callable[[float], "subprocess.Popen[str]"]


@pytest.fixture
def cache(link: RedisLink) -> ResultCache:
    return ResultCache(link)


@pytest.fixture
def worker(redis_url: str) -> Iterator[Start]:
    """Starts processes that fetch the key "k" of space "s"."""
    with ExitStack() as running:

        def start(seconds: float) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.tools.guards.cache_worker", redis_url, str(seconds)],
                stdout=subprocess.PIPE,
                text=True,
            )
            running.enter_context(process)
            running.callback(process.kill)
            return process

        yield start


async def line_from(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return (await asyncio.to_thread(process.stdout.readline)).strip()


class Source:
    """Something to compute that counts how often it was asked and ends when told to."""

    def __init__(self, value: Any = "made", fault: Exception | None = None) -> None:
        self.runs = 0
        self.finish = asyncio.Event()
        self._value = value
        self._fault = fault

    async def __call__(self) -> Any:
        self.runs += 1
        await self.finish.wait()
        if self._fault is not None:
            raise self._fault
        return self._value

    async def started(self) -> bool:
        return self.runs > 0


def ready(value: Any = "made", fault: Exception | None = None) -> Source:
    source = Source(value, fault)
    source.finish.set()
    return source


def fetch(cache: ResultCache, produce: Callable[[], Awaitable[Any]]) -> asyncio.Task[Any]:
    return asyncio.create_task(_fetch(cache, produce))


async def _fetch(cache: ResultCache, produce: Callable[[], Awaitable[Any]]) -> tuple[Any, bool]:
    return await cache.fetch("s", "k", 60, produce, wait_seconds=30)


async def misses(cache: ResultCache, number: int) -> None:
    """Wait until so many lookups of space "s" found nothing."""

    async def enough() -> bool:
        return (await cache.stats("s")).misses >= number

    await eventually(enough)


async def test_entry_is_found_with_its_literal_key_and_times(cache: ResultCache) -> None:
    # S4-019, S4-022, S4-023, S4-026, S4-030
    key = make_key("m", {"b": 1, "a": "x" * 500})
    value = {"text": "é \ud800", "numbers": [1, 2.5, None, True]}
    await cache.put("s", key, value, ttl=120, token_count=7)
    first = await cache.get("s", key)
    second = await cache.get("s", key)
    assert first is not None
    assert (first.cache_key, first.value, first.token_count) == (key, value, 7)
    assert (first.expires_at - first.created_at).total_seconds() == pytest.approx(120)
    assert abs((first.created_at - datetime.now(UTC)).total_seconds()) < 5
    assert second == first.record_hit()
    assert first.access_count == 1
    assert cache_state(first, first.created_at) is CacheState.ACTIVE


async def test_entry_lives_for_an_hour_unless_told_otherwise(cache: ResultCache) -> None:
    # S4-027
    await cache.put("s", "k", 1)
    found = await cache.get("s", "k")
    assert found is not None
    assert found.expires_at - found.created_at == timedelta(seconds=3600)


async def test_lookup_counts_as_hit_or_miss_each_time(cache: ResultCache) -> None:
    # S4-086
    assert await cache.get("s", "k") is None
    await cache.put("s", "k", 1)
    await cache.get("s", "k")
    await cache.get("s", "k")
    assert await cache.get("s", "other") is None
    assert await cache.stats("s") == CacheStats(entries=1, hits=2, misses=2)
    assert await cache.stats("another space") == CacheStats(entries=0, hits=0, misses=0)


async def test_expired_entry_is_a_miss_and_is_removed(link: RedisLink, cache: ResultCache) -> None:
    # S4-025, S4-030, S4-086
    await cache.put("s", "k", 1, ttl=1)
    found = await cache.get("s", "k")
    assert found is not None

    async def expired() -> bool:
        return await cache.get("s", "k") is None

    await eventually(expired)
    assert cache_state(found, found.expires_at) is CacheState.EXPIRED
    assert (await cache.stats("s")).entries == 0
    assert await link.command("KEYS", "*") == ["cp:cache:s:statistics"]


async def test_full_space_evicts_the_entry_inserted_first_however_often_used(
    link: RedisLink, cache: ResultCache
) -> None:
    # S4-028, S4-029
    await asyncio.gather(*(cache.put("s", f"k{number}", number) for number in range(1000)))
    assert (await cache.stats("s")).entries == 1000
    assert await cache.get("s", "k0") is not None
    await cache.put("s", "k1000", 1000)
    assert (await cache.stats("s")).entries == 1000
    evicted = await cache.get("s", "k0")
    assert evicted is None
    assert cache_state(evicted, datetime.now(UTC)) is CacheState.EVICTED
    assert await cache.get("s", "k1") is not None
    assert await cache.get("s", "k1000") is not None
    assert len(await link.command("KEYS", "cp:cache:s:entry:*")) == 1000


async def test_spaces_are_filled_and_evicted_apart(link: RedisLink) -> None:
    # S4-028
    cache = ResultCache(link, max_entries=2)
    for number in range(5):
        await cache.put("a", f"k{number}", number)
    await cache.put("b", "k0", 0)
    assert ((await cache.stats("a")).entries, (await cache.stats("b")).entries) == (2, 1)
    assert await cache.get("b", "k0") is not None


async def test_key_put_again_is_a_new_insertion(link: RedisLink) -> None:
    # S4-029
    cache = ResultCache(link, max_entries=2)
    await cache.put("s", "first", 1)
    await cache.put("s", "second", 2)
    await cache.put("s", "second", 22)
    assert await cache.get("s", "first") is not None
    await cache.put("s", "first", 11)
    assert (await cache.stats("s")).entries == 2
    await cache.put("s", "third", 3)
    assert await cache.get("s", "second") is None
    found = await cache.get("s", "first")
    assert found is not None
    assert (found.value, found.access_count) == (11, 1)


async def test_expired_entries_do_not_push_living_ones_out(link: RedisLink) -> None:
    # S4-029
    cache = ResultCache(link, max_entries=2)
    await cache.put("s", "lasting", 1)
    await cache.put("s", "brief", 2, ttl=1)

    async def over() -> bool:
        return (await cache.stats("s")).entries == 1

    await eventually(over)
    await cache.put("s", "next", 3)
    assert await cache.get("s", "lasting") is not None


async def test_smaller_limit_takes_effect_at_the_next_put(link: RedisLink) -> None:
    # S4-028
    for number in range(10):
        await ResultCache(link).put("s", f"k{number}", number)
    await ResultCache(link, max_entries=3).put("s", "k10", 10)
    assert (await ResultCache(link).stats("s")).entries == 3


@pytest.mark.parametrize("ttl", [0, -1])
async def test_value_without_lifetime_is_not_stored(cache: ResultCache, ttl: int) -> None:
    # S4-023
    await cache.put("s", "k", 1, ttl=ttl)
    assert await cache.get("s", "k") is None


async def test_value_above_the_size_cap_is_not_stored(link: RedisLink, cache: ResultCache) -> None:
    await cache.put("s", "k", "x" * (1 << 20))
    assert await cache.get("s", "k") is None
    await cache.put("s", "k", "x" * ((1 << 20) - 2))
    assert await cache.get("s", "k") is not None
    small = ResultCache(link, max_bytes=10)
    big = Source("x" * 20)
    big.finish.set()
    assert await small.fetch("t", "k", 60, big, wait_seconds=1) == ("x" * 20, False)
    assert await small.fetch("t", "k", 60, big, wait_seconds=1) == ("x" * 20, False)
    assert big.runs == 2


async def test_value_that_is_not_json_is_served_but_not_stored(cache: ResultCache) -> None:
    # S4-062
    value = object()
    assert await cache.fetch("s", "k", 60, ready(value), wait_seconds=1) == (value, False)
    assert await cache.get("s", "k") is None


async def test_purge_removes_a_space_or_what_begins_with_a_text(cache: ResultCache) -> None:
    for key in (make_key("a", {"x": 1}), make_key("a", {"x": 2}), make_key("ab", {})):
        await cache.put("s", key, 1)
    await cache.put("t", "k", 1)
    assert await cache.purge("s", "a:") == 2
    assert await cache.get("s", make_key("a", {"x": 1})) is None
    assert await cache.get("s", make_key("ab", {})) is not None
    assert await cache.purge("s") == 1
    assert await cache.purge("s") == 0
    assert (await cache.stats("t")).entries == 1


async def test_second_fetch_within_the_lifetime_does_not_produce(cache: ResultCache) -> None:
    source = ready({"a": 1})
    assert await fetch(cache, source) == ({"a": 1}, False)
    assert await fetch(cache, source) == ({"a": 1}, True)
    assert source.runs == 1
    assert await cache.stats("s") == CacheStats(entries=1, hits=1, misses=1)


@pytest.mark.parametrize("value", [None, 0, "", [], False])
async def test_empty_value_is_a_value(cache: ResultCache, value: Any) -> None:
    source = ready(value)
    assert await fetch(cache, source) == (value, False)
    assert await fetch(cache, source) == (value, True)


async def test_callers_who_miss_together_produce_once(cache: ResultCache) -> None:
    # S4-086
    source = Source("made")
    callers = [fetch(cache, source) for _ in range(50)]
    await misses(cache, 50)
    source.finish.set()
    outcomes = await asyncio.gather(*callers)
    assert source.runs == 1
    assert sorted(outcomes) == [("made", False)] + [("made", True)] * 49


async def test_keys_and_spaces_are_produced_apart(cache: ResultCache) -> None:
    source = ready()
    await asyncio.gather(
        cache.fetch("s", "k1", 60, source, wait_seconds=1),
        cache.fetch("s", "k2", 60, source, wait_seconds=1),
        cache.fetch("t", "k1", 60, source, wait_seconds=1),
    )
    assert source.runs == 3


async def test_followers_get_the_exception_of_the_leader(cache: ResultCache) -> None:
    source = Source(fault=UpstreamFailed("no"))
    callers = [fetch(cache, source) for _ in range(5)]
    await misses(cache, 5)
    source.finish.set()
    outcomes = await asyncio.gather(*callers, return_exceptions=True)
    assert source.runs == 1
    assert [type(outcome) for outcome in outcomes] == [UpstreamFailed] * 5


async def test_failure_is_never_stored(cache: ResultCache) -> None:
    # T15
    with pytest.raises(UpstreamFailed):
        await fetch(cache, ready(fault=UpstreamFailed("no")))
    assert await fetch(cache, ready("fine")) == ("fine", False)


async def test_cancelled_leader_hands_over_to_the_next(cache: ResultCache) -> None:
    abandoned, taken_over = Source(), Source("second")
    leader = fetch(cache, abandoned)
    await eventually(abandoned.started)
    followers = [fetch(cache, taken_over) for _ in range(5)]
    await misses(cache, 6)
    leader.cancel()
    await eventually(taken_over.started)
    taken_over.finish.set()
    outcomes = await asyncio.gather(*followers)
    assert leader.cancelled()
    assert taken_over.runs == 1
    assert sorted(outcomes) == [("second", False)] + [("second", True)] * 4


async def test_cancelled_follower_does_not_disturb_the_leader(cache: ResultCache) -> None:
    source = Source()
    leader = fetch(cache, source)
    await eventually(source.started)
    follower = fetch(cache, source)
    await misses(cache, 2)
    follower.cancel()
    await asyncio.gather(follower, return_exceptions=True)
    source.finish.set()
    assert await leader == ("made", False)


async def test_other_process_waits_for_the_leader_and_takes_its_value(
    cache: ResultCache, other_link: RedisLink
) -> None:
    elsewhere = ResultCache(other_link)
    here, there = Source("made here"), ready("made there")
    leader = fetch(cache, here)
    await eventually(here.started)
    followers = [fetch(elsewhere, there) for _ in range(5)]
    await misses(cache, 6)
    here.finish.set()
    assert await leader == ("made here", False)
    assert await asyncio.gather(*followers) == [("made here", True)] * 5
    assert there.runs == 0


async def test_other_process_takes_over_when_the_leader_fails(
    cache: ResultCache, other_link: RedisLink
) -> None:
    elsewhere = ResultCache(other_link)
    here, there = Source(fault=UpstreamFailed("no")), ready("made there")
    leader = fetch(cache, here)
    await eventually(here.started)
    follower = fetch(elsewhere, there)
    await misses(cache, 2)
    here.finish.set()
    with pytest.raises(UpstreamFailed):
        await leader
    assert await follower == ("made there", False)


async def test_other_process_produces_itself_when_it_has_waited_long_enough(
    link: RedisLink, cache: ResultCache, other_link: RedisLink
) -> None:
    here, there = Source("made here"), ready("made there")
    leader = fetch(cache, here)
    await eventually(here.started)
    elsewhere = ResultCache(other_link)
    assert await elsewhere.fetch("s", "k", 60, there, wait_seconds=0.1) == ("made there", False)
    # The lock is the leader's still.
    assert len(await link.command("KEYS", "cp:cache:s:lock:*")) == 1
    here.finish.set()
    assert await leader == ("made here", False)


async def test_leader_at_work_for_long_keeps_its_lead(
    cache: ResultCache, other_link: RedisLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.guards.cache.LOCK_SECONDS", 0.15)
    here, there = Source("made here"), ready("made there")
    leader = fetch(cache, here)
    await eventually(here.started)
    follower = fetch(ResultCache(other_link), there)
    done, _ = await asyncio.wait({follower}, timeout=0.6)
    assert not done
    here.finish.set()
    assert await follower == ("made here", True)
    assert await leader == ("made here", False)


async def test_processes_who_miss_together_produce_once(
    link: RedisLink, cache: ResultCache, worker: Start
) -> None:
    leader = worker(4)
    assert await line_from(leader) == "producing"
    others = [worker(0) for _ in range(2)]
    await misses(cache, 3)
    assert await line_from(leader) == "1 False"
    assert [await line_from(other) for other in others] == ["1 True", "1 True"]
    assert await link.command("GET", "produced") == "1"


async def test_leader_that_was_killed_loses_its_lead(cache: ResultCache, worker: Start) -> None:
    leader = worker(-1)
    assert await line_from(leader) == "producing"
    source = ready("made here")
    follower = fetch(cache, source)
    await misses(cache, 2)
    leader.kill()
    assert await follower == ("made here", False)
    assert source.runs == 1


async def test_cancelled_leader_gives_the_lock_up_at_once(
    link: RedisLink, cache: ResultCache
) -> None:
    source = Source()
    leader = fetch(cache, source)
    await eventually(source.started)
    assert len(await link.command("KEYS", "cp:cache:s:lock:*")) == 1
    leader.cancel()
    await asyncio.gather(leader, return_exceptions=True)
    assert await link.command("KEYS", "cp:cache:s:lock:*") == []


async def test_without_redis_calls_are_served_uncached_and_the_code_is_logged(
    dead_link: RedisLink, caplog: pytest.LogCaptureFixture
) -> None:
    # S4-062
    cache = ResultCache(dead_link)
    source = ready("made")
    assert await fetch(cache, source) == ("made", False)
    assert await fetch(cache, source) == ("made", False)
    assert source.runs == 2
    await cache.put("s", "k", 1)
    assert await cache.get("s", "k") is None
    assert await cache.purge("s") == 0
    assert await cache.stats("s") == CacheStats(entries=0, hits=0, misses=0)
    warnings = [r for r in caplog.records if r.name == "tools.guards.cache"]
    assert len(warnings) == 1
    assert warnings[0].levelname == "WARNING"
    assert warnings[0].__dict__["fields"] == {"code": -32001, "error": "CACHE_ERROR"}


async def test_without_redis_callers_of_a_process_still_produce_once(dead_link: RedisLink) -> None:
    cache = ResultCache(dead_link)
    source = Source("made")
    callers = [fetch(cache, source) for _ in range(10)]
    await eventually(source.started)
    source.finish.set()
    outcomes = await asyncio.gather(*callers)
    assert source.runs == 1
    assert sorted(outcomes) == [("made", False)] + [("made", True)] * 9


async def test_outage_during_a_computation_costs_the_entry_but_not_the_answer(
    own_valkey: OwnValkey, own_link: RedisLink, caplog: pytest.LogCaptureFixture
) -> None:
    # S4-062
    cache = ResultCache(own_link)
    source = Source("made")
    leader = fetch(cache, source)
    await eventually(source.started)
    own_valkey.kill()
    source.finish.set()
    assert await leader == ("made", False)
    with pytest.raises(RedisDown):
        await own_link.command("PING")
    own_valkey.start()

    async def back() -> bool:
        return own_link.available

    await eventually(back)
    assert await fetch(cache, ready("again")) == ("again", False)
    assert await fetch(cache, ready("again")) == ("again", True)
    own_valkey.kill()
    assert await cache.get("s", "k") is None
    codes = [
        record.__dict__["fields"]["code"] for record in caplog.records if "cache" in record.name
    ]
    assert codes == [-32001, -32001]


async def test_damaged_entry_is_a_miss_that_is_logged(
    link: RedisLink, cache: ResultCache, caplog: pytest.LogCaptureFixture
) -> None:
    # S4-062
    await cache.put("s", "k", 1)
    (name,) = await link.command("KEYS", "cp:cache:s:entry:*")
    await link.command("HSET", name, "value", "{not json")
    assert await fetch(cache, ready("made")) == ("made", False)
    assert [r.__dict__["fields"]["code"] for r in caplog.records] == [-32001]
    assert await fetch(cache, ready("unused")) == ("made", True)
