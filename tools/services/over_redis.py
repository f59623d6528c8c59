"""A question to Redis from code without an event loop, such as the pages of the admin."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tools.conf import deployment
from tools.guards.redis import RedisDown, RedisLink

__all__ = ["RedisDown", "over_redis"]

_T = TypeVar("_T")


def over_redis(work: Callable[[RedisLink], Coroutine[Any, Any, _T]]) -> _T:
    """What `work` comes to on a connection of its own.

    Raises:
        RedisDown: there is none; guards that would hide that are not even asked.
    """

    async def ask() -> _T:
        link = RedisLink(deployment().redis_url)
        try:
            await link.command("PING")
            return await work(link)
        finally:
            await link.close()

    return asyncio.run(ask())
