"""The circuit breakers of all services, as operators see and reset them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from tools.guards.breaker import (
    STANDARD_CONFIGS,
    Breakers,
    BreakerSnapshot,
    BreakerState,
    CircuitBreakerConfig,
)
from tools.guards.redis import RedisLink
from tools.models import UpstreamServer
from tools.models.audit import Action
from tools.services.audit.recording import record_action
from tools.services.over_redis import RedisDown, glance, over_redis
from tools.upstreams import breaker_name

__all__ = ["BreakerState", "RedisDown", "ShownBreaker", "breaker_status", "reset_breaker"]

_LIMITS: Final = ("slug", "failure_threshold", "recovery_timeout")
# Asked every few seconds by each open page: secrets and what servers offer stay in the database.
_SHOWN: Final = (*_LIMITS, "display_name", "enabled")


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
    return glance(breakers_question())


def breakers_question() -> Callable[[RedisLink], Coroutine[Any, Any, list[ShownBreaker]]]:
    """The same as a question, for whoever has more to ask over the connection."""
    servers = {breaker_name(row.slug): row for row in UpstreamServer.objects.only(*_SHOWN)}
    enabled = {name for name, row in servers.items() if row.enabled}
    configs = breaker_configs(servers.values())

    async def ask(link: RedisLink) -> list[ShownBreaker]:
        breakers = Breakers(link, configs)
        known = set(await breakers.known())
        names = sorted(known | enabled)
        snapshots = await asyncio.gather(*(breakers.snapshot(name) for name in names))
        found = [
            ShownBreaker(snapshot, name in known, servers.get(name))
            for name, snapshot in zip(names, snapshots, strict=True)
        ]
        # Who is in trouble comes first.
        return sorted(found, key=lambda one: one.snapshot.state is BreakerState.CLOSED)

    return ask


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

    found = over_redis(ask)
    if found:
        record_action(Action.RESET, "breaker", name)
    return found


def breaker_configs(
    servers: Iterable[UpstreamServer] | None = None,
) -> Mapping[str, CircuitBreakerConfig]:
    """Threshold and recovery time of every breaker that has its own; `servers` are all, if at hand."""
    rows = UpstreamServer.objects.only(*_LIMITS) if servers is None else servers
    own = {
        breaker_name(row.slug): CircuitBreakerConfig(
            row.failure_threshold, float(row.recovery_timeout)
        )
        for row in rows
    }
    return {**STANDARD_CONFIGS, **own}
