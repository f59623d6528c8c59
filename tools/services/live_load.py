"""What waits and what runs outside the web processes, as Redis knows it now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.guards.queries import running_queries
from tools.guards.redis import JOURNAL_STREAM, RedisLink
from tools.services.breaker_status import ShownBreaker, breakers_question
from tools.services.over_redis import RedisDown, glance
from tools.techniques import queue_of, techniques


@dataclass(frozen=True, slots=True)
class Load:
    """Messages by queue, queries that workers are at, and calls that are not in the request log yet."""

    waiting: Mapping[str, int]
    queries: int
    backlog: int

    @property
    def depth(self) -> int:
        return sum(self.waiting.values())


@dataclass(frozen=True, slots=True)
class Live:
    """What Redis knows now: the load, and the breakers of all services."""

    load: Load
    breakers: list[ShownBreaker]


def live_status(queues: Sequence[str]) -> Live | None:
    """The load of `queues` and of those of all pipelines, and the breakers; None without Redis."""
    names = with_pipelines(queues)
    breakers = breakers_question()

    async def ask(link: RedisLink) -> Live:
        # All at once, over one connection.
        return Live(*await asyncio.gather(_load(link, names), breakers(link)))

    try:
        return glance(ask)
    except RedisDown:
        return None


def with_pipelines(queues: Sequence[str]) -> list[str]:
    """These queues, and that of each technique."""
    return [*queues, *(queue_of(technique.name) for technique in techniques)]


async def _load(link: RedisLink, names: Sequence[str]) -> Load:
    depths = [link.submit("LLEN", name) for name in names]
    backlog = link.submit("XLEN", JOURNAL_STREAM)
    running = await running_queries(link)
    waiting = {name: int(await depth) for name, depth in zip(names, depths, strict=True)}
    return Load(waiting, len(running), int(await backlog))
