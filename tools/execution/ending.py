"""Ending what runs in the background, for certain."""

from __future__ import annotations

import asyncio
from typing import Any, Final

AGAIN_AFTER: Final = 0.2


def cancel_once(task: asyncio.Task[Any]) -> None:
    """Cancel `task` unless that was done before: a second time would cut off its cleaning up."""
    if not task.cancelling():
        task.cancel()


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel `tasks` and wait until they are over.

    Once is not enough: redis-py loses a cancellation that meets it while it connects, and the
    task would go on for ever.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=AGAIN_AFTER)
