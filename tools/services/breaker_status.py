"""The circuit breakers of all services, as operators see and reset them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tools.guards.breaker import (
    STANDARD_CONFIGS,
    Breakers,
    BreakerSnapshot,
    BreakerState,
    CircuitBreakerConfig,
)
from tools.guards.redis import RedisLink
from tools.models import UpstreamServer
from tools.services.over_redis import RedisDown, over_redis
from tools.upstreams import breaker_name

__all__ = ["BreakerState", "RedisDown", "ShownBreaker", "breaker_status", "reset_breaker"]


@dataclass(frozen=True, slots=True)
class ShownBreaker:
    """One breaker, and whose it is. `next_probe` is when an OPEN one lets a call try again.

    Nothing has happened to one whose service was not `called` yet.
    """

    snapshot: BreakerSnapshot
    called: bool
    server: UpstreamServer | None = None

    @property
    def next_probe(self) -> datetime | None:
        if self.snapshot.state is not BreakerState.OPEN:
            return None
        return self.snapshot.last_state_change + timedelta(seconds=self.snapshot.recovery_timeout)


def breaker_status() -> list[ShownBreaker]:
    """Every breaker there is: of services that were called, and of each server that is switched on.

    Raises:
        RedisDown: nobody knows how they are.
    """
    servers = {breaker_name(row.slug): row for row in UpstreamServer.objects.all()}
    enabled = {name for name, row in servers.items() if row.enabled}
    configs = breaker_configs()

    async def ask(link: RedisLink) -> list[ShownBreaker]:
        breakers = Breakers(link, configs)
        known = set(await breakers.known())
        return [
            ShownBreaker(await breakers.snapshot(name), name in known, servers.get(name))
            for name in sorted(known | enabled)
        ]

    # Who is in trouble comes first.
    return sorted(over_redis(ask), key=lambda one: one.snapshot.state is BreakerState.CLOSED)


def reset_breaker(name: str) -> bool:
    """Close the breaker of that name by hand. False when there is none.

    Raises:
        RedisDown: it is as it was.
    """
    configs = breaker_configs()

    async def ask(link: RedisLink) -> bool:
        breakers = Breakers(link, configs)
        known = name in await breakers.known()
        if known:
            await breakers.reset(name)
        return known or name in configs

    return over_redis(ask)


def breaker_configs() -> Mapping[str, CircuitBreakerConfig]:
    """Threshold and recovery time of every breaker that has its own."""
    rows = UpstreamServer.objects.values_list("slug", "failure_threshold", "recovery_timeout")
    own = {
        breaker_name(slug): CircuitBreakerConfig(threshold, float(recovery))
        for slug, threshold, recovery in rows
    }
    return {**STANDARD_CONFIGS, **own}
