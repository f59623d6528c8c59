"""Stage 5: reuse of raw successful results, computed once for callers that ask together.

What a service outside last answered is kept for longer than it may be reused. While that service
is down, the last answer is given instead of an error, and marked as stale. A definition that was
changed begins without answers of either kind: those of the old one may be wrong under the new one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tools.contracts import Deadline, ToolSource, ToolSpec
from tools.errors import (
    ControlPlaneError,
    DeadlineExceeded,
    HeldBack,
    ServiceUnavailable,
    Starting,
    Stopping,
    UpstreamFailed,
)
from tools.execution.watch import Watch
from tools.guards.cache import CacheUse, ResultCache, last_space, make_key, marked_key

logger = logging.getLogger(__name__)

LAST_KNOWN_SECONDS: Final = 86_400
# Their answers come from a service that can be away while this one is well.
OUTSIDE: Final = frozenset({ToolSource.HTTP_API, ToolSource.UPSTREAM})
_DOWN: Final = (UpstreamFailed, ServiceUnavailable, DeadlineExceeded)
# Not for a service that is away: ours, or a tool that must not be used as it is.
_NOT_DOWN: Final = (Starting, Stopping, HeldBack)


@dataclass(frozen=True, slots=True)
class Reused:
    """A result; whether it came from the cache (None: it is not cached), and since when it is stale."""

    data: Any
    hit: bool | None
    stale_since: datetime | None = None


async def reuse_or_run(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    cache: ResultCache,
    deadline: Deadline,
    run: Callable[[], Awaitable[Any]],
    *,
    fresh: bool = False,
    personal: bool = False,
    watch: Watch | None = None,
) -> Reused:
    """The result, from the cache where it may be.

    A `fresh` one is had from the backend whatever the cache has, and is not kept for others.
    A `personal` one may depend on what its caller is asked meanwhile: it is neither kept nor shared.
    `watch` notes what the cache did.

    Raises:
        ControlPlaneError: what `run` raised, when there is no last answer to give instead.
    """
    told = None if watch is None else watch.cached
    if spec.cache_ttl_seconds is None:
        _tell(told, CacheUse.OFF)
        return Reused(await run(), None)
    if fresh:
        _tell(told, CacheUse.PASSED_OVER)
        return Reused(await run(), None)
    space, key = space_of(spec), key_of(spec, arguments)
    if personal:
        found = await cache.get(space, key)
        _tell(told, CacheUse.PERSONAL if found is None else CacheUse.HIT)
        return Reused(await run(), False) if found is None else Reused(found.value, True)
    try:
        data, hit = await cache.fetch(
            space, key, spec.cache_ttl_seconds, run, wait_seconds=deadline.remaining(), told=told
        )
    except _DOWN as error:
        if spec.source not in OUTSIDE or isinstance(error, _NOT_DOWN):
            raise
        last = await _last_known(spec, cache, key, error)
        _tell(told, CacheUse.STALE)
        return last
    if not hit and spec.source in OUTSIDE:
        await cache.put(last_space(space), key, data, ttl=LAST_KNOWN_SECONDS)
    return Reused(data, hit)


def _tell(told: Callable[[CacheUse], None] | None, use: CacheUse) -> None:
    if told is not None:
        told(use)


async def _last_known(
    spec: ToolSpec, cache: ResultCache, key: str, error: ControlPlaneError
) -> Reused:
    found = await cache.get(last_space(space_of(spec)), key)
    if found is None:
        raise error
    logger.warning(
        "%s is answered with what it last gave, at %s: %s",
        spec.name,
        found.created_at.isoformat(timespec="seconds"),
        error.message,
    )
    return Reused(found.value, True, found.created_at)


def space_of(spec: ToolSpec) -> str:
    """The entries that are counted and evicted together: one thousand per source of tools."""
    return spec.source.value


def key_of(spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
    """What a result is known by. One that was had under another definition has another key."""
    return marked_key(make_key(spec.name, arguments), spec.mark)
