"""Leaves a dependency alone for a while after it has failed several times in a row."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import StrEnum
from time import monotonic
from typing import Final

FAILURES: Final = 3
SECONDS: Final = 60.0


class BreakerState(StrEnum):
    """As on the wire."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF-OPEN"


class BreakerOpen(Exception):
    """Not asked: it failed before, and its time has not come."""


class Breaker:
    """Closed until `failures` in a row; then open for `seconds`; then one try decides."""

    def __init__(
        self,
        failures: int = FAILURES,
        seconds: float = SECONDS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._most = failures
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._opened_at: float | None = None
        self._trying = False
        self.failures = 0

    @property
    def state(self) -> BreakerState:
        if self._opened_at is None:
            return BreakerState.CLOSED
        waited = self._clock() - self._opened_at
        return BreakerState.HALF_OPEN if waited >= self._seconds else BreakerState.OPEN

    def enter(self) -> bool:
        """Whether this use is the one try that decides. To be called before each use; `succeeded`, `failed`
        or `left` has to follow, and is told it.

        Raises:
            BreakerOpen: it must not be used now.
        """
        with self._lock:
            state = self.state
            if state is BreakerState.CLOSED:
                return False
            if state is BreakerState.OPEN or self._trying:
                raise BreakerOpen
            self._trying = True
            return True

    def succeeded(self) -> None:
        with self._lock:
            self.failures = 0
            self._opened_at = None
            self._trying = False

    def failed(self, *, trying: bool) -> None:
        with self._lock:
            self.failures += 1
            # A use from before it opened tells nothing new.
            if trying or (self._opened_at is None and self.failures >= self._most):
                self._opened_at = self._clock()
                self._trying = False

    def left(self, *, trying: bool) -> None:
        """It was not learned whether it works: whoever asked went away, or what was asked was wrong."""
        with self._lock:
            if trying:
                self._trying = False
