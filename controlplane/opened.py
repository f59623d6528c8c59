"""What processes that serve calls have open: a runtime, the drain of its journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection

from tools.conf import deployment
from tools.contracts import ServiceState
from tools.execution.ending import end
from tools.execution.federation import keeping_upstreams
from tools.execution.runtime import Runtime, open_runtime
from tools.services.drain_journal import JournalDrain
from tools.services.sync_upstream import record_discovery
from tools.upstreams import Discovered

# When the process was started, on the monotonic clock; known where it was started to serve.
began: float | None = None


@asynccontextmanager
async def opened(*, wait: bool, meet: bool = True) -> AsyncIterator[Runtime]:
    """A runtime whose journal is written to the database meanwhile; `wait` as in `open_runtime`.

    With `meet`, upstream servers that are to be connected from the start are.
    On the way out calls are refused, and what is in the journal is written first.
    """
    async with open_runtime(wait=wait, began=began) as runtime:
        drain = JournalDrain(deployment().redis_url, Path(settings.VAR_DIR) / "journal-spool")
        draining = asyncio.create_task(drain.run())
        try:
            async with keeping_upstreams(runtime, _record, meet=meet):
                yield runtime
        finally:
            shut(runtime)
            await end(draining)
            await drain.finish()
            runtime.become(ServiceState.STOPPED)


async def _record(slug: str, found: Discovered) -> None:
    """Keep what a server offers in the catalogue."""

    def work() -> None:
        try:
            record_discovery(slug, found)
        finally:
            connection.close()

    await sync_to_async(work, thread_sensitive=False)()


def shut(runtime: Runtime) -> None:
    """Refuse new calls from now on; those under way are completed."""
    if not runtime.stopping:
        runtime.become(ServiceState.SHUTTING_DOWN)
