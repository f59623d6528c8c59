"""What the cache of results deals in: keys, entries with their life, and figures. Pure values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


def make_key(method_name: str, params: Mapping[str, Any]) -> str:
    """The key of a call: the same for the same parameters in whatever order."""
    return f"{method_name}:{json.dumps(params, sort_keys=True)}"


def marked_key(key: str, mark: str) -> str:
    """`key` under a definition that `mark` stands for."""
    return f"{key}#{mark}" if mark else key


def params_of(key: str) -> Any:
    """The parameters of the call that `key`, marked or not, is of; None for what is no key of a call."""
    try:
        return json.JSONDecoder().raw_decode(key.partition(":")[2])[0]
    except (ValueError, RecursionError):
        return None


class CacheState(StrEnum):
    """Life of an entry."""

    CREATED = "Created"
    ACTIVE = "Active"
    EXPIRED = "Expired"
    EVICTED = "Evicted"


class CacheUse(StrEnum):
    """What the cache did for one call."""

    NOT_ASKED = "not asked"
    OFF = "off"
    HIT = "hit"
    JOINED = "joined"
    MISS = "miss"
    PERSONAL = "personal"
    PASSED_OVER = "passed over"
    BYPASSED = "bypassed"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """One entry. `now` is what its times are checked against: by default this machine's clock."""

    cache_key: str
    value: Any
    created_at: datetime
    expires_at: datetime
    token_count: int
    access_count: int = 0
    now: InitVar[datetime | None] = None

    def __post_init__(self, now: datetime | None) -> None:
        if not self.cache_key:
            raise ValueError("cache_key must not be empty")
        if self.created_at > (now or datetime.now(UTC)):
            raise ValueError("created_at must not lie in the future")
        if self.expires_at <= self.created_at:
            raise ValueError("expires_at must be later than created_at")
        if self.token_count < 0 or self.access_count < 0:
            raise ValueError("token_count and access_count must not be negative")

    def is_expired(self, now: datetime) -> bool:
        """Whether the entry's time is over; at `expires_at` it is."""
        return now >= self.expires_at

    def record_hit(self) -> CachedResponse:
        """The entry after one more access."""
        return replace(self, access_count=self.access_count + 1, now=self.created_at)


def cache_state(entry: CachedResponse | None, now: datetime) -> CacheState:
    """The state of an entry; one that the cache no longer has (None) was evicted."""
    if entry is None:
        return CacheState.EVICTED
    if entry.is_expired(now):
        return CacheState.EXPIRED
    return CacheState.ACTIVE if entry.access_count else CacheState.CREATED


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Live entries of a space, and its lookups since it exists."""

    entries: int
    hits: int
    misses: int

    @property
    def hit_rate(self) -> float:
        """Share of lookups that were hits; 0 before the first."""
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else 0.0
