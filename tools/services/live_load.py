"""What waits and what runs outside the web processes, as Redis knows it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.guards.queries import running_queries
from tools.guards.redis import JOURNAL_STREAM, RedisLink
from tools.services.over_redis import RedisDown, over_redis
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


def live_load(queues: Sequence[str]) -> Load | None:
    """The load of `queues` and of those of all pipelines; None while Redis cannot be asked."""
    names = [*queues, *(queue_of(technique.name) for technique in techniques)]

    async def ask(link: RedisLink) -> Load:
        depths = [link.submit("LLEN", name) for name in names]
        waiting = {name: int(await depth) for name, depth in zip(names, depths, strict=True)}
        backlog = int(await link.command("XLEN", JOURNAL_STREAM))
        return Load(waiting, len(await running_queries(link)), backlog)

    try:
        return over_redis(ask)
    except RedisDown:
        return None
