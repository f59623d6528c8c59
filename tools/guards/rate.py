"""Calls per minute: one token bucket per subject, shared by all processes.

A bucket holds `per_minute` tokens and gains `per_minute / 60` of them each second, so a caller may
use its minute at once and then goes on at the even rate. A changed limit holds from the next call
on; what was used of the old one stays used. Idle buckets expire.

For limits of 1200 per minute and more a process takes a tenth of a second's worth of tokens at
once and spends them without asking; what it has not spent after a second is forfeited. So a busy
caller costs no round trip per call, and gets at most that much less than its due per process.

Redis down: each process counts for itself, in a bucket of the same size. The limit then holds
within a process and grows with the number of processes; nobody is refused because Redis is away.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tools.guards.redis import RedisDown, RedisLink, load_script

MOST_LOCAL_SUBJECTS: Final = 10_000
LEASES_PER_MINUTE: Final = 600
LEASE_SECONDS: Final = 1.0
_TAKE: Final = load_script("rate")


@dataclass(frozen=True, slots=True)
class RateDecision:
    """Whether a call may go on, whole calls left, and the seconds until one more is allowed."""

    allowed: bool
    remaining: int
    retry_after: float


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    capacity: int


@dataclass(slots=True)
class _Lease:
    """Tokens taken in advance: `left` of them here, `beyond` more in Redis when it was asked."""

    left: int
    beyond: int
    per_minute: int
    until: float


class RateLimiter:
    """Spends tokens in Redis, or in this process while Redis is down."""

    def __init__(self, link: RedisLink, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._link = link
        self._clock = clock
        self._local: OrderedDict[str, _Bucket] = OrderedDict()
        self._leases: OrderedDict[str, _Lease] = OrderedDict()

    async def take(self, subject: str, per_minute: int) -> RateDecision:
        """Spend one call of `subject`. A refused call spends nothing.

        Raises:
            ValueError: for a limit below one call per minute.
        """
        if per_minute < 1:
            raise ValueError("a rate is at least one call per minute")
        if (spent := self._spend(subject, per_minute)) is not None:
            return spent
        wanted = max(1, per_minute // LEASES_PER_MINUTE)
        try:
            reply = await self._link.script(_TAKE, [f"cp:rate:{subject}"], per_minute, wanted)
        except RedisDown:
            return self._take_locally(subject, per_minute)
        taken, beyond, wait = int(reply[0]), int(reply[1]), float(reply[2])
        if taken == 0:
            # Calls that asked at the same moment may have taken more than they needed.
            return self._spend(subject, per_minute) or RateDecision(False, beyond, wait)
        left = self._lease(subject, per_minute, taken - 1, beyond)
        return RateDecision(True, beyond + left, wait)

    def _spend(self, subject: str, per_minute: int) -> RateDecision | None:
        """Use a token taken in advance, unless there is none, or only of another limit."""
        lease = self._leases.get(subject)
        if lease is None or not lease.left or not self._valid(lease, per_minute):
            return None
        lease.left -= 1
        return RateDecision(True, lease.left + lease.beyond, 0.0)

    def _lease(self, subject: str, per_minute: int, more: int, beyond: int) -> int:
        """Keep tokens for later calls; how many there are now."""
        lease = self._leases.get(subject)
        if lease is None or not self._valid(lease, per_minute):
            if more == 0:
                return 0
            lease = self._leases[subject] = _Lease(0, beyond, per_minute, 0.0)
            if len(self._leases) > MOST_LOCAL_SUBJECTS:
                self._leases.popitem(last=False)
        lease.left += more
        lease.beyond = beyond
        lease.until = self._clock() + LEASE_SECONDS
        return lease.left

    def _valid(self, lease: _Lease, per_minute: int) -> bool:
        return lease.per_minute == per_minute and self._clock() < lease.until

    def _take_locally(self, subject: str, per_minute: int) -> RateDecision:
        now = self._clock()
        per_second = per_minute / 60
        bucket = self._local.pop(subject, None) or _Bucket(per_minute, now, per_minute)
        carried = max(0.0, bucket.tokens + per_minute - bucket.capacity)
        tokens = min(float(per_minute), carried + max(0.0, now - bucket.at) * per_second)
        allowed = tokens >= 1
        if allowed:
            tokens -= 1
        self._local[subject] = _Bucket(tokens, now, per_minute)
        if len(self._local) > MOST_LOCAL_SUBJECTS:
            self._local.popitem(last=False)
        return RateDecision(allowed, int(tokens), 0.0 if allowed else (1 - tokens) / per_second)


async def spent(link: RedisLink, limits: Mapping[str, int]) -> dict[str, int]:
    """Calls that each subject has used of its calls per minute and not regained yet; spends nothing.

    Raises:
        RedisDown: nobody knows.
    """
    seconds, micros = await link.command("TIME")
    now = int(seconds) + int(micros) / 1_000_000
    asked = {
        subject: link.submit("HMGET", f"cp:rate:{subject}", "tokens", "at", "capacity")
        for subject in limits
    }
    return {
        subject: limits[subject] - int(_tokens(await asked[subject], limits[subject], now))
        for subject in limits
    }


def _tokens(bucket: list[str | None], per_minute: int, now: float) -> float:
    """What a bucket holds at this moment; as the script reckons."""
    tokens, at, capacity = bucket
    if tokens is None or at is None or capacity is None:
        return float(per_minute)
    carried = max(0.0, float(tokens) + per_minute - float(capacity))
    return min(float(per_minute), carried + max(0.0, now - float(at)) * per_minute / 60)
