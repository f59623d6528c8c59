"""Where journal events go while Redis is away: the database, and a spool of files behind it.

Nobody waits here for long, and nobody for ever: a database that is locked or gone is given a second,
then left alone for a while, and what cannot even be spooled is named in the log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import orjson
from django.db import DatabaseError, connection, transaction

from tools.models import ToolRequest

logger = logging.getLogger(__name__)

LOCK_WAIT_MS: Final = 1000
COOL_DOWN: Final = 5.0

Event = Mapping[str, Any]


class DirectWriter:
    """Writes the events of concurrent calls together, from a thread of its own."""

    def __init__(self, spool: Path) -> None:
        self._spool = spool
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal-direct")
        self._waiting: list[tuple[Event, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._database_away_until = 0.0

    async def write(self, event: Event) -> None:
        """Return once `event` is in the database or, failing that, in the spool."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._waiting.append((event, written))
        if self._writer is None:
            self._writer = loop.create_task(self._run())
        await written

    async def aclose(self) -> None:
        if self._writer is not None:
            await self._writer
        self._thread.shutdown(wait=False)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                events = [event for event, _ in batch]
                try:
                    await loop.run_in_executor(self._thread, self._keep, events)
                except Exception:
                    ids = [event.get("call_id") for event in events]
                    logger.exception("Journal events could not be kept anywhere: %s", ids)
                for _, written in batch:
                    if not written.done():
                        written.set_result(None)
        finally:
            self._writer = None

    def _keep(self, events: Sequence[Event]) -> None:
        if time.monotonic() < self._database_away_until:
            self._append(events)
            return
        try:
            self._apply(events)
        except DatabaseError:
            self._database_away_until = time.monotonic() + COOL_DOWN
            logger.exception("The journal cannot use the database; events go to %s", self._spool)
            self._append(events)
        finally:
            connection.close()

    def _apply(self, events: Sequence[Event]) -> None:
        """Callers wait for this: other writers may take their time, this one may not."""
        on_sqlite = connection.vendor == "sqlite"
        if on_sqlite:
            # Its transactions wait for the lock where they begin.
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {LOCK_WAIT_MS}")
        with transaction.atomic():
            if not on_sqlite:
                # For this transaction only: the connection goes back to the pool, to those who may wait.
                with connection.cursor() as cursor:
                    cursor.execute(
                        "SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_WAIT_MS}ms"]
                    )
            ToolRequest.objects.apply(events)

    def _append(self, events: Sequence[Event]) -> None:
        self._spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One file per batch, complete under its final name: a reader never sees half a batch.
        name = f"{time.time_ns()}-{os.getpid()}"
        temporary = self._spool / f"{name}.part"
        with temporary.open("wb") as handle:
            handle.writelines(orjson.dumps(event) + b"\n" for event in events)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.rename(self._spool / f"{name}.events")
