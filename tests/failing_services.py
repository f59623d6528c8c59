"""Services that fail, for breakers to notice."""

from __future__ import annotations

import asyncio
import time

from tools.guards.breaker import Breakers, CircuitBreakerConfig
from tools.guards.redis import RedisLink


def fail(url: str, name: str, times: int, config: CircuitBreakerConfig, ago: float = 0) -> None:
    """Let calls of a service fail, some seconds ago."""
    then = time.time() - ago

    async def work() -> None:
        link = RedisLink(url)
        breakers = Breakers(link, {name: config}, now=lambda: then)
        for _ in range(times):
            await breakers.failure(await breakers.admit(name))
        await link.close()

    asyncio.run(work())
