"""Queries that workers run for a process that waits: who is at which, and whether anybody still is.

A worker claims a query under a lease that it renews while it works. So whoever waits can tell a
query that is being worked on from one whose worker died, and one that nobody has taken; and a
message that is delivered twice, or too late, is not run. Workers also say now and then that they
are there, by the queue they take queries from.

Redis down: nothing can be asked or told, and `RedisDown` says so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.guards.redis import RedisLink, load_script

LEASE_SECONDS: Final = 3.0
# A worker that was not heard of for so long is gone.
PRESENT_SECONDS: Final = 5.0
# How long it is known that a query is not to be run; messages of queries expire much earlier.
REMEMBER_SECONDS: Final = 600
RUNNING: Final = "cp:rag:running"
PROCESSES: Final = "cp:rag:processes"
STEP: Final = load_script("query")
_RUN: Final = "run:"
_COUNT: Final = load_script("present")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a query stands. `reply` is what its worker handed in, `ending` what Celery says of it."""

    taken: bool
    reply: str | None
    ending: str | None


class Queries:
    """The side of whoever waits, over one link."""

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def cancel(self, query_id: str) -> bool:
        """Nobody waits for this query any more. True when a worker was told to stop."""
        return bool(await self._step(query_id, "cancel"))

    async def bar(self, query_id: str) -> bool:
        """Keep a query that nobody has taken from being run. False when somebody has."""
        return bool(await self._step(query_id, "bar"))

    async def look(self, query_ids: Sequence[str]) -> list[Standing]:
        """Where these queries stand."""
        keys = [key for one in query_ids for key in (*query_keys(one)[:2], ending_key(one))]
        found = await self._link.command("MGET", *keys)
        return [
            Standing(bool(claim), reply, ending)
            for claim, reply, ending in zip(found[::3], found[1::3], found[2::3], strict=True)
        ]

    async def forget(self, query_id: str) -> None:
        """Remove what is left of a query that was answered."""
        await self._link.command("DEL", query_keys(query_id)[1], ending_key(query_id))

    async def present(self, queue: str) -> int:
        """How many processes take queries from `queue`."""
        return int(await self._link.script(_COUNT, [present_key(queue)]))

    async def waiting(self, queue: str) -> int:
        """How many messages of `queue` nobody has taken."""
        return int(await self._link.command("LLEN", queue))

    async def _step(self, query_id: str, step: str) -> Any:
        return await self._link.script(STEP, query_keys(query_id), step, query_id, REMEMBER_SECONDS)


async def running_queries(link: RedisLink) -> list[dict[str, Any]]:
    """The queries that workers are at now, oldest first: what each is doing and where.

    Raises:
        RedisDown: when Redis cannot be reached.
    """
    entries = pairs(await link.command("HGETALL", RUNNING))
    if not entries:
        return []
    claims = await link.command("MGET", *(query_keys(one)[0] for one in entries))
    held = {one for one, claim in zip(entries, claims, strict=True) if _is_held(claim)}
    # Left behind by a process that was killed.
    if stale := entries.keys() - held:
        await link.command("HDEL", RUNNING, *stale)
    known = [{"query": one, **json.loads(entries[one])} for one in held]
    return sorted(known, key=lambda one: (one["since"], one["query"]))


async def worker_processes(link: RedisLink) -> list[dict[str, Any]]:
    """The processes that run queries: where each is, what it takes and the memory it uses.

    Raises:
        RedisDown: when Redis cannot be reached.
    """
    seconds, _ = await link.command("TIME")
    known = {
        name: json.loads(facts)
        for name, facts in pairs(await link.command("HGETALL", PROCESSES)).items()
    }
    gone = [name for name, facts in known.items() if facts["until"] < float(seconds)]
    if gone:
        await link.command("HDEL", PROCESSES, *gone)
    there = [{"process": name, **facts} for name, facts in known.items() if name not in gone]
    return sorted(there, key=lambda facts: str(facts["process"]))


def query_keys(query_id: str) -> list[str]:
    """The keys the script needs: claim, reply, running queries."""
    return [f"cp:rag:query:{query_id}", f"cp:rag:reply:{query_id}", RUNNING]


def ending_key(query_id: str) -> str:
    """Where Celery writes down how a task ended that could not say so itself."""
    return f"celery-task-meta-{query_id}"


def channel(asker: str) -> str:
    """Where the process `asker` is told about its queries."""
    return f"cp:rag:told:{asker}"


def present_key(queue: str) -> str:
    return f"cp:rag:present:{queue}"


def wake_key(runner: str) -> str:
    """The list by which a process is told at once that a query is not wanted any more."""
    return f"cp:rag:wake:{runner}"


def pairs(reply: Any) -> dict[str, str]:
    """A reply of names and texts in turn; newer protocols of Redis pair them themselves."""
    if isinstance(reply, dict):
        return reply
    return dict(zip(reply[::2], reply[1::2], strict=True))


def _is_held(claim: str | None) -> bool:
    return claim is not None and claim.startswith(_RUN)
