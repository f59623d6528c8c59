"""What the stages of one call decided, and how long each took: for whoever watches that call."""

from __future__ import annotations

import time
from enum import StrEnum

from tools.guards.entries import CacheUse


class BreakerSeen(StrEnum):
    """What the breaker said to one call."""

    NOT_ASKED = "not asked"
    NONE = "none"
    CLOSED = "closed"
    PROBE = "probe"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Watch:
    """Kept for calls with an observer; ordinary ones have none of it."""

    def __init__(self) -> None:
        self.cache = CacheUse.NOT_ASKED
        self.breaker = BreakerSeen.NOT_ASKED
        # Milliseconds by stage, in the order in which they began.
        self.stages: dict[str, float] = {}
        self._stage = ""
        self._entered = time.perf_counter()

    def enter(self, stage: str) -> None:
        """`stage` begins, and the one before ends; none begins without a name."""
        now = time.perf_counter()
        if self._stage:
            spent = (now - self._entered) * 1000
            self.stages[self._stage] = round(self.stages.get(self._stage, 0.0) + spent, 3)
        self._stage, self._entered = stage, now

    def cached(self, use: CacheUse) -> None:
        """Note what the cache did; the last word counts."""
        self.cache = use
