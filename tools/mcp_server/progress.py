"""Signs of life for long calls: what the backend reports, and a beat when it reports nothing."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from tools.contracts import Progress
from tools.execution.runtime import current

# A client may count on a notice every two seconds.
BEAT_SECONDS: Final = 1.5
# Values must grow with each notice; this is the least step.
LEAST_STEP: Final = 0.001


@asynccontextmanager
async def reporting(ctx: ServerRequestContext[Any, Any]) -> AsyncIterator[Progress | None]:
    """Keep the client informed while a call runs, if it asked for that with a progress token."""
    if ctx.meta is None or ctx.meta.get("progress_token") is None:
        yield None
        return
    reporter = Reporter(ctx)
    beating = asyncio.create_task(reporter.beat())
    try:
        yield reporter.report
    finally:
        beating.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beating


class Reporter:
    """Sends progress that only ever grows."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._session = ctx.session
        self._began = time.monotonic()
        self._sent_at = self._began
        self._value = 0.0
        self._total: float | None = None
        self._measured = False

    async def report(self, done: float, total: float | None, message: str) -> None:
        """What the backend says about its own progress."""
        self._measured, self._total = True, total
        await self._send(done, total, message)

    async def beat(self) -> None:
        """Say that the call still runs, whenever nothing was said for a while."""
        while True:
            quiet = time.monotonic() - self._sent_at
            if quiet < BEAT_SECONDS:
                await asyncio.sleep(BEAT_SECONDS - quiet)
                continue
            elapsed = time.monotonic() - self._began
            # Seconds stand for progress as long as the backend has given no measure of its own.
            value = self._value if self._measured else elapsed
            await self._send(value, self._total, f"Running for {elapsed:.0f} s")

    async def _send(self, value: float, total: float | None, message: str) -> None:
        self._value = max(value, self._value + LEAST_STEP)
        self._sent_at = time.monotonic()
        current().count("progress_updates")
        await self._session.report_progress(self._value, total, message or None)
