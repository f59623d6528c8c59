"""Word to callers whose call takes long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tools.contracts import CallContext


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds pass before the first word, and between words."""

    first: float = 5.0
    every: float = 2.0


@asynccontextmanager
async def telling(context: CallContext, service: str, patience: Patience) -> AsyncIterator[None]:
    """Tell the caller, while this lasts, that its call is still under way."""
    if context.progress is None:
        yield
        return
    words = asyncio.create_task(_tell(context, service, patience))
    try:
        yield
    finally:
        words.cancel()
        # What a caller that has left makes of them is no failure of the call.
        await asyncio.gather(words, return_exceptions=True)


async def _tell(context: CallContext, service: str, patience: Patience) -> None:
    began = time.monotonic()
    await asyncio.sleep(patience.first)
    while True:
        seconds = time.monotonic() - began
        await context.report(
            seconds, None, f"Waiting for the API {service}, {seconds:.0f} s so far"
        )
        await asyncio.sleep(patience.every)
