"""Results of calls, kept for a while and shared by all processes.

Entries live in spaces. A space holds at most `max_entries`; when it is full, the entry inserted
first makes room, however often it was used (FIFO). Putting a key again is a new insertion: the
entry gets a new lifetime, no hits, and the last place in the order. Only successes get here: the
read-through `fetch` stores what `produce` returned and nothing when it raised.

Concurrent misses of one key run `produce` once. Within a process the followers share the leader's
result; over processes a lock with a token decides, which a leader renews and a dead one loses.
Waiting for another process is polling with a short pause: it happens once per process and key,
while a computation is under way, so a wake-up channel would cost more than it saves.

Redis down, or any other fault of the cache: bypass. Every `get` is a miss, `put` does nothing and
`fetch` produces, still once per process at a time. A warning with code -32001 (CACHE_ERROR) is
logged once per outage; no method raises for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from redis.exceptions import RedisError

from tools.guards.entries import (
    CachedResponse,
    CacheState,
    CacheStats,
    CacheUse,
    cache_state,
    make_key,
    marked_key,
    params_of,
)
from tools.guards.redis import RedisDown, RedisLink, load_script

__all__ = [
    "CacheState",
    "CacheStats",
    "CacheUse",
    "CachedResponse",
    "ResultCache",
    "cache_state",
    "last_space",
    "make_key",
    "marked_key",
    "params_of",
]

logger = logging.getLogger(__name__)

CACHE_ERROR: Final = -32001
LOCK_SECONDS: Final = 3.0
SHORTEST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.1
_FAULTS: Final = (RedisDown, RedisError, ValueError, TypeError)
_GET: Final = load_script("cache_get")
_PUT: Final = load_script("cache_put")
_LEAD: Final = load_script("cache_lead")
_LOCK: Final = load_script("cache_lock")
_PURGE: Final = load_script("cache_purge")
_STATS: Final = load_script("cache_stats")


class ResultCache:
    """Entries in Redis, over one link."""

    def __init__(
        self,
        link: RedisLink,
        *,
        max_entries: int = 1000,
        default_ttl: int = 3600,
        max_bytes: int = 1 << 20,
    ) -> None:
        self._link = link
        self._max_entries = max_entries
        self._default_ttl = default_ttl
        self._max_bytes = max_bytes
        self._flights: dict[tuple[str, str], asyncio.Future[Any]] = {}
        self._bypassed = False

    async def get(self, space: str, key: str) -> CachedResponse | None:
        """Look an entry up; counts as a hit or a miss. An expired one is a miss and is removed."""
        digest = _digest(key)
        try:
            reply = await self._link.script(_GET, _keys(space, digest), digest)
            entry = _entry(reply) if len(reply) > 1 else None
        except _FAULTS as fault:
            self._bypass(fault)
            return None
        self._bypassed = False
        return entry

    async def put(
        self, space: str, key: str, value: Any, *, ttl: int | None = None, token_count: int = 0
    ) -> None:
        """Store a JSON value for `ttl` seconds; below 1, and above the size cap, nothing is stored."""
        lifetime = self._default_ttl if ttl is None else ttl
        digest = _digest(key)
        try:
            encoded = json.dumps(value, separators=(",", ":"))
            if lifetime < 1 or len(encoded) > self._max_bytes:
                return
            await self._link.script(
                _PUT,
                _keys(space, digest),
                digest,
                _entries(space),
                key,
                encoded,
                lifetime,
                token_count,
                self._max_entries,
            )
        except _FAULTS as fault:
            self._bypass(fault)

    async def purge(self, space: str, key_prefix: str | None = None) -> int:
        """Remove the entries whose key begins with `key_prefix`, or all; how many there were."""
        _, order, expiry, _ = _keys(space, "")
        try:
            return int(
                await self._link.script(_PURGE, [order, expiry], _entries(space), key_prefix or "")
            )
        except _FAULTS as fault:
            self._bypass(fault)
            return 0

    async def stats(self, space: str) -> CacheStats:
        """Figures of a space; all zero while Redis is down."""
        _, _, expiry, counters = _keys(space, "")
        try:
            return CacheStats(*await self._link.script(_STATS, [expiry, counters]))
        except _FAULTS as fault:
            self._bypass(fault)
            return CacheStats(entries=0, hits=0, misses=0)

    async def fetch(
        self,
        space: str,
        key: str,
        ttl: int | None,
        produce: Callable[[], Awaitable[Any]],
        *,
        wait_seconds: float,
        told: Callable[[CacheUse], None] | None = None,
    ) -> tuple[Any, bool]:
        """The value of a key and whether it came without running `produce` for this caller.

        `told` hears which way it came, as soon as that is known.

        Callers of this process that miss together get the leader's value (the same object: do not
        change it) or its exception; when the leader is cancelled, the next of them takes over.
        When another process leads, this one waits for it at most `wait_seconds`, then produces.
        """
        found = await self.get(space, key)
        if found is not None:
            _tell(told, CacheUse.HIT)
            return found.value, True
        while (flight := self._flights.get((space, key))) is not None:
            _tell(told, CacheUse.JOINED)
            # Waiting does not pass a follower's cancellation on to the leader's future.
            await asyncio.wait({flight})
            if not flight.cancelled():
                return flight.result(), True
        return await self._lead(space, key, ttl, produce, wait_seconds, told=told)

    async def _lead(
        self,
        space: str,
        key: str,
        ttl: int | None,
        produce: Callable[[], Awaitable[Any]],
        wait_seconds: float,
        *,
        told: Callable[[CacheUse], None] | None,
    ) -> tuple[Any, bool]:
        flight = asyncio.get_running_loop().create_future()
        self._flights[space, key] = flight
        lock = _Lock(self._link, space, _digest(key))
        try:
            found = await self._take_turn(lock, wait_seconds)
            if found is not None:
                _tell(told, CacheUse.JOINED)
                (value,) = found
            else:
                _tell(told, CacheUse.BYPASSED if self._bypassed else CacheUse.MISS)
                value = await produce()
                await self.put(space, key, value, ttl=ttl)
        except Exception as fault:
            flight.set_exception(fault)
            # Whether anybody followed or not, the leader's caller hears of it.
            flight.exception()
            raise
        else:
            flight.set_result(value)
            return value, found is not None
        finally:
            lock.give_up()
            del self._flights[space, key]
            # Has an effect only when the leader was cancelled: the followers find a new one.
            flight.cancel()

    async def _take_turn(self, lock: _Lock, wait_seconds: float) -> tuple[Any] | None:
        """The value, if another process provides it in time; None when this one shall produce."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait_seconds
        pause = SHORTEST_PAUSE
        while True:
            try:
                reply = await lock.ask()
                if isinstance(reply, str):
                    return (json.loads(reply),)
            except _FAULTS as fault:
                self._bypass(fault)
                return None
            remaining = deadline - loop.time()
            if reply == 1 or remaining <= 0:
                return None
            await asyncio.sleep(min(pause, remaining))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _bypass(self, fault: Exception) -> None:
        if not self._bypassed:
            logger.warning(
                "The cache is bypassed: %s",
                fault,
                extra={"fields": {"code": CACHE_ERROR, "error": "CACHE_ERROR"}},
            )
        self._bypassed = True


class _Lock:
    """Says which process computes an entry. Renewed from the first request until given up."""

    def __init__(self, link: RedisLink, space: str, digest: str) -> None:
        self._link = link
        self._keys = [_entries(space) + digest, f"cp:cache:{space}:lock:{digest}"]
        self._token = secrets.token_hex(8)
        self._timer = asyncio.get_running_loop().call_later(LOCK_SECONDS / 3, self._renew)

    async def ask(self) -> str | int:
        """The stored text if there is one by now, 1 when the lock is taken, 0 when another has it."""
        reply: str | int = await self._link.script(_LEAD, self._keys, self._token, LOCK_SECONDS)
        return reply

    def give_up(self) -> None:
        """Sent even when the task was cancelled; not worth waiting for."""
        self._timer.cancel()
        self._link.submit_script(_LOCK, self._keys[1:], self._token, 0)

    def _renew(self) -> None:
        self._link.submit_script(_LOCK, self._keys[1:], self._token, LOCK_SECONDS)
        self._timer = asyncio.get_running_loop().call_later(LOCK_SECONDS / 3, self._renew)


def _tell(told: Callable[[CacheUse], None] | None, use: CacheUse) -> None:
    if told is not None:
        told(use)


def last_space(space: str) -> str:
    """Where the last answers are, which are only given while their service is down."""
    return f"{space}-last"


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _entries(space: str) -> str:
    return f"cp:cache:{space}:entry:"


def _keys(space: str, digest: str) -> list[str]:
    others = [f"cp:cache:{space}:{part}" for part in ("order", "expiry", "statistics")]
    return [_entries(space) + digest, *others]


def _entry(reply: list[Any]) -> CachedResponse:
    now, key, value, created, expires, tokens, hits = reply
    return CachedResponse(
        cache_key=key,
        value=json.loads(value),
        created_at=_moment(created),
        expires_at=_moment(expires),
        token_count=tokens,
        access_count=hits,
        # The server's clock wrote the times; ours may be slow.
        now=_moment(now),
    )


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
