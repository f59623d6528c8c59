"""Moves journal events from the Redis stream to the database, in batches.

Every web process takes part as a consumer of one group. An event is acknowledged after its
transaction committed, and applying it twice changes nothing, so a process may die at any point:
another one claims what it had not finished. Calls that were opened and never closed are failed
once their deadline is over and no event that could close them is still under way.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from django.db import DatabaseError, connection
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from tools.guards.redis import JOURNAL_STREAM, REFUSED_STREAM, connect, disconnect
from tools.models import ToolRequest
from tools.services.write_journal import read_spool, write_events

logger = logging.getLogger(__name__)

GROUP: Final = "writers"
BATCH: Final = 1000
BLOCK_MS: Final = 500
# Events are left to gather between batches: a call's opening and closing event then make one
# insert, and writing takes little from the process's calls. Nobody waits for a row this long.
GATHER: Final = 0.5
ROUNDS_EVERY: Final = 2.0
CLAIM_AFTER_MS: Final = 5000
# A call is over by its deadline; its closing event may be this much later.
SWEEP_MARGIN: Final = timedelta(seconds=5)
RETRY_AFTER: Final = 0.5
MOST_REFUSED: Final = 10_000

Entry = tuple[str, Mapping[str, str]]
# What to read of the stream: what nobody has read, or what this consumer has read and not written.
NEW = ">"
OWN = "0"


class JournalDrain:
    """One consumer of the stream."""

    def __init__(self, url: str, spool: Path) -> None:
        self._client: Redis = connect(url, timeout=5)
        self._spool = spool
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal-drain")
        self._rounds_at = 0.0
        self._grouped = False
        self._oldest = datetime.now(UTC)
        self._waiting_for = ""

    async def run(self) -> None:
        """Drain until cancelled; outages of Redis and of the database are waited out."""
        while True:
            try:
                written = await self.step(block_ms=BLOCK_MS)
                self._wait_for("", None)
                if written < BATCH:
                    await asyncio.sleep(GATHER)
            except RedisError as fault:
                self._grouped = False
                self._wait_for("Redis", fault)
                await asyncio.sleep(RETRY_AFTER)
            except DatabaseError as fault:
                self._wait_for("the database", fault)
                await asyncio.sleep(RETRY_AFTER)
            except Exception:
                # Draining must outlive any single fault, or rows stop arriving.
                logger.exception("Draining the journal failed on a bug")
                await asyncio.sleep(RETRY_AFTER)

    def _wait_for(self, what: str, fault: Exception | None) -> None:
        """Log the beginning and the end of an outage, not every moment of it."""
        if what != self._waiting_for:
            if fault is not None:
                logger.warning("The journal waits for %s: %s", what, type(fault).__name__)
            else:
                logger.info("The journal is written again")
        self._waiting_for = what

    async def step(self, *, block_ms: int | None = None) -> int:
        """Write one batch and, now and then, make the rounds; how many events were written."""
        await self._ensure_group()
        entries = await self._read(block_ms)
        if entries:
            await self._write(entries)
        loop = asyncio.get_running_loop()
        if loop.time() - self._rounds_at >= ROUNDS_EVERY:
            self._rounds_at = loop.time()
            await self.make_rounds()
        return len(entries)

    async def finish(self) -> None:
        """On the way out: write what is there now, then let go of the connections."""
        try:
            async with asyncio.timeout(1):
                # What was read when the draining was stopped is still ours, and written by nobody.
                if begun := await self._read(None, OWN):
                    await self._write(begun)
                while await self.step():
                    pass
        except (TimeoutError, RedisError, OSError, DatabaseError) as fault:
            # While Redis is away calls are written straight to the database: nothing is left.
            level = logging.DEBUG if self._waiting_for == "Redis" else logging.WARNING
            logger.log(
                level,
                "The rest of the journal is left to the next process: %s",
                type(fault).__name__,
            )
        await disconnect(self._client)
        # Not waited for: a thread that waits for a lock must not keep the process from leaving.
        self._thread.shutdown(wait=False)

    async def make_rounds(self) -> None:
        """Claim what dead consumers left, read the spool in, fail calls nobody will close."""
        await self._claim()
        await self._in_thread(lambda: read_spool(self._spool))
        await self._in_thread(lambda: ToolRequest.objects.sweep(self._oldest - SWEEP_MARGIN))

    async def _ensure_group(self) -> None:
        if self._grouped:
            return
        try:
            await self._client.xgroup_create(JOURNAL_STREAM, GROUP, id="0", mkstream=True)
        except ResponseError as fault:
            if "BUSYGROUP" not in str(fault):
                raise
        self._grouped = True

    async def _read(self, block_ms: int | None, which: str = NEW) -> list[Entry]:
        try:
            reply = await self._client.xreadgroup(
                GROUP, self._name, {JOURNAL_STREAM: which}, count=BATCH, block=block_ms
            )
        except ResponseError as fault:
            # The server was emptied or replaced; the group is made again on the next step.
            if "NOGROUP" not in str(fault):
                raise
            self._grouped = False
            return []
        return _entries(reply)

    async def _write(self, entries: Sequence[Entry]) -> None:
        texts = [fields.get("e", "") for _, fields in entries]
        while True:
            try:
                refused = await self._in_thread(lambda: write_events(texts))
                break
            except DatabaseError as fault:
                # Not acknowledged and kept here: tried until it works, claimed by others if we die.
                self._wait_for("the database", fault)
                await asyncio.sleep(RETRY_AFTER)
        async with self._client.pipeline(transaction=True) as pipeline:
            for text in refused:
                pipeline.xadd(REFUSED_STREAM, {"e": text}, maxlen=MOST_REFUSED)
            ids = [entry_id for entry_id, _ in entries]
            pipeline.xack(JOURNAL_STREAM, GROUP, *ids)
            pipeline.xdel(JOURNAL_STREAM, *ids)
            await pipeline.execute()

    async def _claim(self) -> None:
        """Take over events whose consumer has not acknowledged them for a while; drop dead names."""
        while True:
            reply = await self._client.xautoclaim(
                JOURNAL_STREAM, GROUP, self._name, CLAIM_AFTER_MS, count=BATCH
            )
            entries = [entry for entry in reply[1] if entry[1]]
            if not entries:
                break
            await self._write(entries)
        # Written events are deleted, so whatever is first has not been written, read or not.
        self._oldest = _oldest_time(await self._client.xrange(JOURNAL_STREAM, count=1))
        for consumer in await self._client.xinfo_consumers(JOURNAL_STREAM, GROUP):
            if consumer["pending"] == 0 and consumer["idle"] > 60_000:
                await self._client.xgroup_delconsumer(JOURNAL_STREAM, GROUP, consumer["name"])

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        def closing() -> Any:
            try:
                return work()
            except DatabaseError:
                # A broken connection must not be met again by the next batch.
                connection.close()
                raise
            finally:
                if connection.vendor == "postgresql":
                    connection.close()

        return await asyncio.get_running_loop().run_in_executor(self._thread, closing)


def _entries(reply: Any) -> list[Entry]:
    streams = reply.items() if isinstance(reply, dict) else reply or []
    found: list[Entry] = []
    for _, batches in streams:
        for item in batches:
            # Newer clients group entries once more when they answer as a mapping.
            found.extend(item if isinstance(item, list) else [item])
    return found


def _oldest_time(first: Any) -> datetime:
    """When the oldest event that is not yet written came in; now, if all are."""
    if not first:
        return datetime.now(UTC)
    milliseconds = int(first[0][0].split("-")[0])
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
