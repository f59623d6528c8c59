"""The breakers of one process."""

from __future__ import annotations

import pytest

from tests.openai_fixtures import Clock
from tools.guards.breaker import LLM_DEFAULTS
from tools.pipelines.blocks.endpoints.breaker import (
    RECOVERY_SECONDS,
    THRESHOLD,
    LocalBreakers,
    Refused,
)


def fail(breakers: LocalBreakers, times: int, name: str = "llm_api") -> None:
    for _ in range(times):
        breakers.admit(name).failure()


def is_open(breakers: LocalBreakers, name: str = "llm_api") -> bool:
    try:
        breakers.admit(name).abandon()
    except Refused:
        return True
    return False


def test_processes_on_their_own_have_the_limits_of_shared_breakers() -> None:
    assert (THRESHOLD, RECOVERY_SECONDS) == (3, 60)
    assert (LLM_DEFAULTS.failure_threshold, LLM_DEFAULTS.recovery_timeout) == (3, 60)


def test_third_failure_in_a_row_opens_the_breaker_of_that_api(breakers: LocalBreakers) -> None:
    # S2-060
    fail(breakers, 2)
    breakers.admit("llm_api").success()
    fail(breakers, 2)
    assert not is_open(breakers)
    fail(breakers, 1)
    assert is_open(breakers)
    assert not is_open(breakers, "embeddings_api")


def test_single_probe_is_admitted_after_the_recovery_time(
    breakers: LocalBreakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 60
    probe = breakers.admit("llm_api")
    with pytest.raises(Refused) as refused:
        breakers.admit("llm_api")
    assert 0 < refused.value.retry_after <= 1
    probe.success()
    breakers.admit("llm_api")
    breakers.admit("llm_api")


def test_failed_probe_opens_the_breaker_for_as_long_again(
    breakers: LocalBreakers, clock: Clock
) -> None:
    fail(breakers, 3)
    clock.now += 60
    fail(breakers, 1)
    clock.now += 59
    assert is_open(breakers)
    clock.now += 1
    assert not is_open(breakers)


def test_probe_that_was_given_up_is_free_for_another(breakers: LocalBreakers, clock: Clock) -> None:
    fail(breakers, 3)
    clock.now += 60
    breakers.admit("llm_api").abandon()
    lost = breakers.admit("llm_api")
    clock.now += 60
    # Whoever had it is gone.
    probe = breakers.admit("llm_api")
    lost.failure()
    probe.success()
    assert not is_open(breakers)


def test_requests_from_before_it_opened_count_for_nothing(
    breakers: LocalBreakers, clock: Clock
) -> None:
    early = [breakers.admit("llm_api") for _ in range(4)]
    fail(breakers, 3)
    early[0].success()
    assert is_open(breakers)
    clock.now += 60
    probe = breakers.admit("llm_api")
    early[1].failure()
    probe.success()
    early[2].failure()
    fail(breakers, 2)
    assert not is_open(breakers)
