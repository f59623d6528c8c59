"""A question to Redis from code without an event loop, such as the pages of the admin."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from tools.conf import deployment
from tools.guards.redis import RedisDown, RedisLink

__all__ = ["GLANCE_SECONDS", "RedisDown", "glance", "over_redis", "patiently"]

_T = TypeVar("_T")

# All that a page waits for Redis, however much it asks.
GLANCE_SECONDS: Final = 0.5
# Nobody waits again for a server that just did not answer; by its address.
_COOL_DOWN: Final = 0.5
# A worker tries again this often, and for as long as a restart of Redis takes.
TRY_EVERY: Final = 0.5
PATIENCE: Final = 30
_silent_until: dict[str, float] = {}


def glance(work: Callable[[RedisLink], Coroutine[Any, Any, _T]]) -> _T:
    """What `work` comes to, for a page: soon, or not at all.

    Raises:
        RedisDown: Redis cannot be asked, does not answer in time, or did not a moment ago.
    """
    url = deployment().redis_url
    if time.monotonic() < _silent_until.get(url, 0.0):
        raise RedisDown("Redis did not answer a moment ago")
    try:
        return over_redis(work, GLANCE_SECONDS)
    except RedisDown:
        _silent_until[url] = time.monotonic() + _COOL_DOWN
        raise


def over_redis(
    work: Callable[[RedisLink], Coroutine[Any, Any, _T]], limit: float | None = None
) -> _T:
    """What `work` comes to on a connection of its own, within `limit` seconds if given.

    Raises:
        RedisDown: there is none; guards that would hide that are not even asked.
    """

    async def ask() -> _T:
        link = RedisLink(deployment().redis_url)
        try:
            async with asyncio.timeout(limit):
                await link.command("PING")
                found = await work(link)
        except TimeoutError as fault:
            link.drop()
            raise RedisDown("Redis does not answer in time") from fault
        except BaseException:
            link.drop()
            raise
        # What was sent and is not waited for still arrives.
        await link.close()
        return found

    return asyncio.run(ask())


def patiently(work: Callable[[RedisLink], Coroutine[Any, Any, _T]]) -> _T:
    """What `work` comes to, for a worker: somebody waits for what it has done, so it tries again for a while.

    Part of `work` may be done more than once.

    Raises:
        RedisDown: Redis stayed away.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return over_redis(work)
        except RedisDown:
            if time.monotonic() > until:
                raise
            time.sleep(TRY_EVERY)
