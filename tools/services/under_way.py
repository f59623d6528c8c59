"""What runs and what waits, one by one: the lists behind the counts of `live_load`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from tools.guards.queries import running_queries
from tools.guards.redis import JOURNAL_STREAM, RedisLink
from tools.services.live_load import with_pipelines
from tools.services.over_redis import RedisDown, glance
from tools.services.pipeline_load import RunningQuery, running_query

# Of each list; messages and events may be long.
MOST_LISTED: Final = 50


@dataclass(frozen=True, slots=True)
class Message:
    """What a worker is to do; both are empty if nobody can read it."""

    task: str = ""
    task_id: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """How many messages wait, and those that waited longest."""

    name: str
    depth: int
    oldest: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Event:
    """The beginning or the end of a call, on its way to the request log `since` then."""

    since: datetime
    kind: str = ""
    call_id: str = ""
    tool: str = ""
    caller: str = ""


@dataclass(frozen=True, slots=True)
class UnderWay:
    """Queries and events are the oldest of so many."""

    query_count: int
    queries: Sequence[RunningQuery]
    queues: Sequence[Queue]
    event_count: int
    events: Sequence[Event]


def under_way(queues: Sequence[str]) -> UnderWay | None:
    """What runs, what waits in `queues` and those of pipelines, what is not logged yet; None without Redis."""
    names = with_pipelines(queues)

    async def ask(link: RedisLink) -> UnderWay:
        depths = [link.submit("LLEN", name) for name in names]
        # Workers take from the right.
        lists = [link.submit("LRANGE", name, -MOST_LISTED, -1) for name in names]
        backlog = link.submit("XLEN", JOURNAL_STREAM)
        events = link.submit("XRANGE", JOURNAL_STREAM, "-", "+", "COUNT", MOST_LISTED)
        running = await running_queries(link)
        waiting = [
            Queue(name, int(await depth), [_message(one) for one in reversed(await oldest)])
            for name, depth, oldest in zip(names, depths, lists, strict=True)
        ]
        return UnderWay(
            query_count=len(running),
            queries=[running_query(one) for one in running[:MOST_LISTED]],
            queues=waiting,
            event_count=int(await backlog),
            events=[_event(entry_id, fields) for entry_id, fields in await events],
        )

    try:
        return glance(ask)
    except RedisDown:
        return None


def _message(text: str) -> Message:
    told = _read(text).get("headers")
    if not isinstance(told, dict):
        return Message()
    return Message(str(told.get("task", "")), str(told.get("id", "")))


def _event(entry_id: str, fields: Sequence[str]) -> Event:
    # In the log's own words, from which secrets are gone; the rest of it is not for this list.
    told = _read(dict(zip(fields[::2], fields[1::2], strict=True)).get("e", ""))
    own = {name: str(told.get(name, "")) for name in ("kind", "call_id", "tool", "caller")}
    milliseconds = int(entry_id.partition("-")[0])
    return Event(datetime.fromtimestamp(milliseconds / 1000, UTC), **own)


def _read(text: str) -> Mapping[str, Any]:
    """What others wrote; nothing if it makes no sense."""
    try:
        found = orjson.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
