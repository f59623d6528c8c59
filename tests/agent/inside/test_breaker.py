"""Three failures open it, sixty seconds later one try decides."""

from __future__ import annotations

import pytest

from agent.breaker import Breaker, BreakerOpen, BreakerState


class Clock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(clock=clock)
    for _ in range(3):
        breaker.failed(trying=breaker.enter())
    return breaker


def test_three_failures_in_a_row_open_it() -> None:
    breaker = Breaker(clock=Clock())
    for outcome in ("failed", "failed", "succeeded", "failed", "failed"):
        assert not breaker.enter()
        if outcome == "failed":
            breaker.failed(trying=False)
        else:
            breaker.succeeded()
    assert (breaker.state, breaker.failures) == (BreakerState.CLOSED, 2)
    breaker.failed(trying=breaker.enter())
    assert breaker.state is BreakerState.OPEN
    with pytest.raises(BreakerOpen):
        breaker.enter()


def test_after_sixty_seconds_one_try_closes_it() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 59.9
    with pytest.raises(BreakerOpen):
        breaker.enter()
    clock.now += 0.1
    assert breaker.state.value == "HALF-OPEN"
    breaker.enter()
    with pytest.raises(BreakerOpen):
        breaker.enter()
    breaker.succeeded()
    assert (breaker.state, breaker.failures) == (BreakerState.CLOSED, 0)


def test_a_try_that_fails_opens_it_for_as_long_again() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 60
    breaker.failed(trying=breaker.enter())
    clock.now += 59
    assert breaker.state is BreakerState.OPEN


def test_a_try_that_was_left_lets_the_next_one_in() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 60
    breaker.left(trying=breaker.enter())
    assert breaker.enter()


def test_uses_from_before_it_opened_neither_end_the_try_nor_keep_it_open() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    early = breaker.enter()
    for _ in range(3):
        breaker.failed(trying=breaker.enter())
    clock.now += 59
    breaker.failed(trying=early)
    clock.now += 1
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.enter()
    breaker.left(trying=early)
    breaker.failed(trying=early)
    with pytest.raises(BreakerOpen):
        breaker.enter()
