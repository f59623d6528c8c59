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
        breaker.enter()
        breaker.failed()
    return breaker


def test_three_failures_in_a_row_open_it() -> None:
    breaker = Breaker(clock=Clock())
    for outcome in ("failed", "failed", "succeeded", "failed", "failed"):
        breaker.enter()
        getattr(breaker, outcome)()
    assert (breaker.state, breaker.failures) == (BreakerState.CLOSED, 2)
    breaker.enter()
    breaker.failed()
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
    breaker.enter()
    breaker.failed()
    clock.now += 59
    assert breaker.state is BreakerState.OPEN


def test_a_try_that_was_left_lets_the_next_one_in() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 60
    breaker.enter()
    breaker.left()
    breaker.enter()
