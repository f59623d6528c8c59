"""What pipelines are at now: queries that run, those that wait, and who is there to take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tools.guards.concurrency import Slots
from tools.guards.queries import Queries, running_queries
from tools.guards.redis import RedisLink
from tools.models import PipelineConfig
from tools.services.over_redis import RedisDown, glance
from tools.techniques import queue_of


@dataclass(frozen=True, slots=True)
class RunningQuery:
    """A query that a worker is at."""

    request_id: str
    caller: str
    stage: str
    message: str
    since: datetime
    worker: str
    pipeline: str = ""


@dataclass(frozen=True, slots=True)
class PipelineLoad:
    """`slots` are taken by calls, of which some `wait` for a worker; others are `held_back` until a slot is
    free. `workers` counts the processes that take its queries."""

    slots: int = 0
    held_back: int = 0
    waiting: int = 0
    workers: int = 0
    queries: list[RunningQuery] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether any call waits, for whatever it is."""
        return bool(self.held_back or self.waiting)


def pipeline_loads(pipelines: Iterable[PipelineConfig]) -> Mapping[str, PipelineLoad] | None:
    """By the names of pipelines; None while Redis cannot be asked."""
    tools = {one.pipeline_name: one.tool.name for one in pipelines}

    async def ask(link: RedisLink) -> dict[str, PipelineLoad]:
        slots, queries = Slots(link), Queries(link)
        running = await running_queries(link)
        return {
            name: PipelineLoad(
                slots=await slots.usage(tool),
                held_back=await slots.waiting(tool),
                waiting=await queries.waiting(queue_of(name)),
                workers=await queries.present(queue_of(name)),
                queries=[running_query(one) for one in running if one.get("pipeline") == name],
            )
            for name, tool in tools.items()
        }

    try:
        return glance(ask)
    except RedisDown:
        return None


def running_query(one: Mapping[str, Any]) -> RunningQuery:
    """A query as its worker wrote it down."""
    return RunningQuery(
        pipeline=str(one.get("pipeline", "")),
        request_id=str(one.get("request_id", "")),
        caller=str(one.get("caller", "")),
        stage=str(one.get("stage", "")),
        message=str(one.get("message", "")),
        since=datetime.fromtimestamp(float(one["since"]), UTC),
        worker=f"{one.get('host', '?')}, pid {one.get('pid', '?')}",
    )
