"""Circuit breakers: one per service, the same in every process."""

from __future__ import annotations

import asyncio
import random
import re
import time
from datetime import UTC, datetime

import pytest

from tools.contracts import IllegalTransition
from tools.guards.breaker import (
    LEASE,
    LLM_DEFAULTS,
    MCP_DEFAULTS,
    BreakerRefused,
    Breakers,
    BreakerSnapshot,
    BreakerState,
    CircuitBreakerConfig,
    Permit,
    check_transition,
)
from tools.guards.redis import RedisDown, RedisLink

START = 1_800_000_000.0
CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN


class Clock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breakers(link: RedisLink, clock: Clock) -> Breakers:
    return Breakers(link, now=clock)


async def fail(breakers: Breakers, name: str, times: int) -> None:
    for _ in range(times):
        await breakers.failure(await breakers.admit(name))


async def state_of(breakers: Breakers, name: str) -> BreakerState:
    return (await breakers.snapshot(name)).state


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


async def test_failures_in_a_row_open_the_breaker_at_the_threshold(
    breakers: Breakers, clock: Clock
) -> None:
    # S2-044, S2-045, S2-046, S2-048, S2-050, S2-051
    await breakers.success(await breakers.admit("mcp_server"))
    assert (await breakers.snapshot("mcp_server")).last_failure_time is None
    clock.now += 1
    await fail(breakers, "mcp_server", 4)
    assert await breakers.snapshot("mcp_server") == BreakerSnapshot(
        service_name="mcp_server",
        state=CLOSED,
        failure_count=4,
        failure_threshold=5,
        last_failure_time=moment(START + 1),
        recovery_timeout=30,
        last_state_change=moment(START),
    )
    clock.now += 1
    await fail(breakers, "mcp_server", 1)
    assert await breakers.snapshot("mcp_server") == BreakerSnapshot(
        service_name="mcp_server",
        state=OPEN,
        failure_count=5,
        failure_threshold=5,
        last_failure_time=moment(START + 2),
        recovery_timeout=30,
        last_state_change=moment(START + 2),
    )


async def test_success_starts_the_count_again(breakers: Breakers) -> None:
    # S2-046
    await fail(breakers, "mcp_server", 4)
    await breakers.success(await breakers.admit("mcp_server"))
    assert (await breakers.snapshot("mcp_server")).failure_count == 0
    await fail(breakers, "mcp_server", 4)
    assert await state_of(breakers, "mcp_server") is CLOSED


async def test_open_breaker_refuses_at_once_until_the_recovery_timeout(
    breakers: Breakers, clock: Clock
) -> None:
    # S2-052
    await fail(breakers, "mcp_server", 5)
    clock.now += 10
    with pytest.raises(BreakerRefused) as refused:
        await breakers.admit("mcp_server")
    assert refused.value.retry_after == pytest.approx(20)
    clock.now += 19.9
    with pytest.raises(BreakerRefused):
        await breakers.admit("mcp_server")


async def test_breaker_is_half_open_once_the_recovery_timeout_is_over(
    breakers: Breakers, clock: Clock
) -> None:
    # S2-050, S2-053
    await fail(breakers, "mcp_server", 5)
    clock.now += 29.9
    assert await state_of(breakers, "mcp_server") is OPEN
    clock.now += 0.1
    seen = await breakers.snapshot("mcp_server")
    assert (seen.state, seen.last_state_change) == (HALF_OPEN, moment(clock.now))


async def test_half_open_breaker_admits_a_single_probe(
    breakers: Breakers, clock: Clock, other_link: RedisLink
) -> None:
    # S2-054, C21
    await fail(breakers, "mcp_server", 5)
    clock.now += 30
    elsewhere = Breakers(other_link, now=clock)
    outcomes = await asyncio.gather(
        *(side.admit("mcp_server") for side in (breakers, elsewhere) for _ in range(10)),
        return_exceptions=True,
    )
    assert sum(isinstance(outcome, Permit) for outcome in outcomes) == 1
    refusals = [outcome for outcome in outcomes if isinstance(outcome, BreakerRefused)]
    assert len(refusals) == 19
    assert all(0 < refusal.retry_after <= 1 for refusal in refusals)


async def test_successful_probe_closes_the_breaker(breakers: Breakers, clock: Clock) -> None:
    # S2-055
    await fail(breakers, "mcp_server", 5)
    clock.now += 30
    probe = await breakers.admit("mcp_server")
    clock.now += 1
    await breakers.success(probe)
    seen = await breakers.snapshot("mcp_server")
    assert (seen.state, seen.failure_count) == (CLOSED, 0)
    assert seen.last_state_change == moment(clock.now)
    await asyncio.gather(*(breakers.admit("mcp_server") for _ in range(10)))


async def test_failed_probe_opens_the_breaker_again(breakers: Breakers, clock: Clock) -> None:
    # S2-056
    await fail(breakers, "mcp_server", 5)
    clock.now += 30
    await breakers.failure(await breakers.admit("mcp_server"))
    seen = await breakers.snapshot("mcp_server")
    assert (seen.state, seen.failure_count) == (OPEN, 6)
    clock.now += 29
    with pytest.raises(BreakerRefused):
        await breakers.admit("mcp_server")
    clock.now += 1
    await breakers.admit("mcp_server")


async def test_abandoned_probe_is_free_for_the_next_call(breakers: Breakers, clock: Clock) -> None:
    await fail(breakers, "mcp_server", 5)
    clock.now += 30
    await breakers.abandon(await breakers.admit("mcp_server"))
    assert await state_of(breakers, "mcp_server") is HALF_OPEN
    await breakers.success(await breakers.admit("mcp_server"))
    assert await state_of(breakers, "mcp_server") is CLOSED


async def test_abandoned_call_counts_neither_way(breakers: Breakers) -> None:
    await fail(breakers, "mcp_server", 4)
    await breakers.abandon(await breakers.admit("mcp_server"))
    assert (await breakers.snapshot("mcp_server")).failure_count == 4


async def test_probe_of_a_dead_holder_is_given_away_after_the_recovery_timeout(
    breakers: Breakers, clock: Clock
) -> None:
    await fail(breakers, "mcp_server", 5)
    clock.now += 30
    lost = await breakers.admit("mcp_server")
    clock.now += 29.9
    with pytest.raises(BreakerRefused):
        await breakers.admit("mcp_server")
    clock.now += 0.1
    probe = await breakers.admit("mcp_server")
    # The first one wakes up after all; the probe is no longer its own.
    await breakers.failure(lost)
    assert await state_of(breakers, "mcp_server") is HALF_OPEN
    await breakers.success(probe)
    assert await state_of(breakers, "mcp_server") is CLOSED


async def test_results_of_calls_admitted_before_it_opened_count_for_nothing(
    breakers: Breakers, clock: Clock
) -> None:
    early = [await breakers.admit("mcp_server") for _ in range(4)]
    await fail(breakers, "mcp_server", 5)
    await breakers.success(early[0])
    assert await state_of(breakers, "mcp_server") is OPEN
    clock.now += 30
    probe = await breakers.admit("mcp_server")
    await breakers.success(early[1])
    await breakers.failure(early[2])
    await breakers.abandon(early[3])
    assert await state_of(breakers, "mcp_server") is HALF_OPEN
    with pytest.raises(BreakerRefused):
        await breakers.admit("mcp_server")
    await breakers.success(probe)
    await breakers.failure(early[0])
    seen = await breakers.snapshot("mcp_server")
    assert (seen.state, seen.failure_count) == (CLOSED, 0)


async def test_call_that_succeeds_after_others_failed_starts_the_count_again(
    breakers: Breakers,
) -> None:
    # S2-046
    slow = await breakers.admit("mcp_server")
    await fail(breakers, "mcp_server", 4)
    await breakers.success(slow)
    await fail(breakers, "mcp_server", 1)
    assert (await breakers.snapshot("mcp_server")).failure_count == 1


async def test_processes_share_one_breaker_per_service(
    breakers: Breakers, other_link: RedisLink, clock: Clock
) -> None:
    # S2-043
    elsewhere = Breakers(other_link, now=clock)
    await fail(breakers, "mcp_server", 2)
    await fail(elsewhere, "mcp_server", 3)
    assert await breakers.snapshot("mcp_server") == await elsewhere.snapshot("mcp_server")
    with pytest.raises(BreakerRefused):
        await breakers.admit("mcp_server")


async def test_breakers_of_two_services_are_independent(breakers: Breakers) -> None:
    # S2-060
    await fail(breakers, "mcp_server", 5)
    assert await state_of(breakers, "gemini_api") is CLOSED
    await breakers.success(await breakers.admit("gemini_api"))
    assert await state_of(breakers, "mcp_server") is OPEN
    assert await breakers.known() == ["gemini_api", "mcp_server"]


async def test_names_carry_their_own_defaults(breakers: Breakers) -> None:
    # S2-047, S2-049, S2-059, C21
    assert breakers.config("mcp_server") == MCP_DEFAULTS == CircuitBreakerConfig(5, 30)
    assert breakers.config("gemini_api") == LLM_DEFAULTS == CircuitBreakerConfig(3, 60)
    assert breakers.config("another") == CircuitBreakerConfig() == MCP_DEFAULTS
    await fail(breakers, "gemini_api", 3)
    assert await state_of(breakers, "gemini_api") is OPEN


async def test_changed_configuration_takes_effect_at_the_next_step(
    link: RedisLink, clock: Clock
) -> None:
    configs = {"s": CircuitBreakerConfig(5, 30)}
    breakers = Breakers(link, configs, now=clock)
    await fail(breakers, "s", 2)
    configs["s"] = CircuitBreakerConfig(3, 10)
    await fail(breakers, "s", 1)
    assert await state_of(breakers, "s") is OPEN
    clock.now += 10
    assert await state_of(breakers, "s") is HALF_OPEN


@pytest.mark.parametrize("threshold", [0, -1, 2.5, True])
def test_threshold_that_is_no_whole_number_above_zero_is_rejected(threshold: int) -> None:
    # S2-047
    with pytest.raises(ValueError, match="failure_threshold"):
        CircuitBreakerConfig(failure_threshold=threshold)


@pytest.mark.parametrize("timeout", [0, -30, float("nan"), float("inf")])
def test_recovery_timeout_that_is_not_above_zero_is_rejected(timeout: float) -> None:
    # S2-049
    with pytest.raises(ValueError, match="recovery_timeout"):
        CircuitBreakerConfig(recovery_timeout=timeout)


@pytest.mark.parametrize(("seconds", "text"), [(30, "PT30S"), (0.5, "PT0.5S"), (600, "PT600S")])
def test_snapshot_travels_with_iso_times_and_duration(seconds: float, text: str) -> None:
    # S2-045, S2-048, S2-049
    seen = BreakerSnapshot("s", HALF_OPEN, 5, 5, None, seconds, moment(START + 0.25))
    assert seen.to_wire() == {
        "service_name": "s",
        "state": "HALF-OPEN",
        "failure_count": 5,
        "failure_threshold": 5,
        "last_failure_time": None,
        "recovery_timeout": text,
        "last_state_change": "2027-01-15T08:00:00.250Z",
    }
    failed = BreakerSnapshot("s", OPEN, 5, 5, moment(START), seconds, moment(START))
    assert failed.to_wire()["last_failure_time"] == "2027-01-15T08:00:00.000Z"


LEGAL = {(CLOSED, OPEN), (OPEN, HALF_OPEN), (HALF_OPEN, CLOSED), (HALF_OPEN, OPEN)}


@pytest.mark.parametrize("old", BreakerState)
@pytest.mark.parametrize("new", BreakerState)
def test_transitions_that_skip_a_state_are_illegal(old: BreakerState, new: BreakerState) -> None:
    # S2-057
    if (old, new) in LEGAL or old is new:
        check_transition(old, new)
    else:
        with pytest.raises(IllegalTransition):
            check_transition(old, new)


async def test_no_sequence_of_events_skips_a_state(
    breakers: Breakers, clock: Clock, other_link: RedisLink
) -> None:
    # S2-057: seen from outside, after every step of long random walks
    elsewhere = Breakers(other_link, now=clock)
    chance = random.Random(7)  # noqa: S311 - a reproducible walk, not a secret
    permits: list[Permit] = []
    visited: set[tuple[BreakerState, BreakerState]] = set()
    old = await state_of(breakers, "s")
    for _ in range(1500):
        side = chance.choice((breakers, elsewhere))
        match chance.choice(("admit", "admit", "success", "failure", "failure", "abandon", "wait")):
            case "admit":
                try:
                    permits.append(await side.admit("s"))
                except BreakerRefused:
                    assert old is not CLOSED
            case "wait":
                clock.now += chance.choice((1, 10, 30))
            case step if permits:
                permit = permits.pop(chance.randrange(len(permits)))
                await {
                    "success": side.success,
                    "failure": side.failure,
                    "abandon": side.abandon,
                }[step](permit)
        new = await state_of(breakers, "s")
        visited.add((old, new))
        check_transition(old, new)
        old = new
    assert visited >= LEGAL


async def test_reset_begins_a_new_breaker(breakers: Breakers) -> None:
    early = await breakers.admit("mcp_server")
    await fail(breakers, "mcp_server", 5)
    await breakers.reset("mcp_server")
    seen = await breakers.snapshot("mcp_server")
    assert (seen.state, seen.failure_count, seen.last_failure_time) == (CLOSED, 0, None)
    assert await breakers.known() == []
    await breakers.admit("mcp_server")
    await breakers.failure(early)
    assert (await breakers.snapshot("mcp_server")).failure_count == 0


async def test_breaker_nobody_used_is_closed_and_unknown(breakers: Breakers) -> None:
    # S2-046, S2-048
    seen = await breakers.snapshot("never")
    assert (seen.state, seen.failure_count, seen.last_failure_time) == (CLOSED, 0, None)
    assert seen == await breakers.snapshot("never")
    assert await breakers.known() == []


async def test_server_clock_is_used_when_no_other_is_given(link: RedisLink) -> None:
    # S2-050, S2-053
    breakers = Breakers(link, {"s": CircuitBreakerConfig(1, 0.05)})
    before = datetime.now(UTC)
    await fail(breakers, "s", 1)
    failed = (await breakers.snapshot("s")).last_failure_time
    assert failed is not None
    assert abs((failed - before).total_seconds()) < 5
    async with asyncio.timeout(10):
        while await state_of(breakers, "s") is not HALF_OPEN:
            await asyncio.sleep(0.01)


async def commands_so_far(link: RedisLink) -> int:
    found = re.search(r"total_commands_processed:(\d+)", await link.command("INFO", "stats"))
    assert found is not None
    return int(found[1])


async def test_calls_of_a_service_that_is_well_do_not_ask_redis_each_time(link: RedisLink) -> None:
    breakers = Breakers(link)
    await breakers.success(await breakers.admit("s"))
    before = await commands_so_far(link)
    for _ in range(100):
        await breakers.success(await breakers.admit("s"))
    assert await commands_so_far(link) - before < 100


async def test_failures_count_one_by_one_though_the_service_was_well_before(
    link: RedisLink,
) -> None:
    # S2-046, S2-051: nothing is asked while all is well, and nothing of that is believed afterwards
    breakers = Breakers(link)
    await breakers.success(await breakers.admit("s"))
    early = [await breakers.admit("s") for _ in range(6)]
    for permit in early[:4]:
        await breakers.failure(permit)
    assert (await breakers.snapshot("s")).failure_count == 4
    await breakers.success(early[4])
    assert (await breakers.snapshot("s")).failure_count == 0
    await fail(breakers, "s", 5)
    with pytest.raises(BreakerRefused):
        await breakers.admit("s")
    await breakers.abandon(early[5])
    assert await state_of(breakers, "s") is OPEN


async def test_breaker_that_another_process_opened_is_obeyed_shortly_after(
    link: RedisLink, other_link: RedisLink
) -> None:
    # S2-043
    breakers, elsewhere = Breakers(link), Breakers(other_link)
    await breakers.success(await breakers.admit("s"))
    await fail(elsewhere, "s", 5)
    opened = time.monotonic()

    async def admit_for_as_long_as_promised() -> None:
        asked = opened
        while asked < opened + LEASE:
            asked = time.monotonic()
            await breakers.admit("s")

    with pytest.raises(BreakerRefused):
        await admit_for_as_long_as_promised()


async def test_without_redis_every_call_goes_through(dead_link: RedisLink) -> None:
    breakers = Breakers(dead_link)
    for _ in range(10):
        await breakers.failure(await breakers.admit("mcp_server"))
    await breakers.success(await breakers.admit("mcp_server"))
    await breakers.abandon(await breakers.admit("mcp_server"))
    seen = await breakers.snapshot("mcp_server")
    assert (seen.state, seen.failure_count, seen.last_failure_time) == (CLOSED, 0, None)
    assert await breakers.known() == []
    with pytest.raises(RedisDown):
        await breakers.reset("mcp_server")


async def test_result_of_a_call_admitted_without_redis_is_not_counted(
    breakers: Breakers, dead_link: RedisLink
) -> None:
    permit = await Breakers(dead_link).admit("mcp_server")
    await breakers.admit("mcp_server")
    await breakers.failure(permit)
    assert (await breakers.snapshot("mcp_server")).failure_count == 0


async def test_result_lost_to_an_outage_is_not_an_error(
    breakers: Breakers, dead_link: RedisLink
) -> None:
    permit = await breakers.admit("mcp_server")
    await Breakers(dead_link).failure(permit)
    assert (await breakers.snapshot("mcp_server")).failure_count == 0


async def test_opening_is_logged(breakers: Breakers, caplog: pytest.LogCaptureFixture) -> None:
    await fail(breakers, "mcp_server", 5)
    assert "Breaker of mcp_server: CLOSED -> OPEN" in caplog.messages
