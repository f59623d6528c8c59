"""Runs asynchronous work from plain code, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def run_apart(work: Callable[[], Awaitable[T]], seconds: float) -> T:
    """The result of `work`, run in a thread and event loop of its own.

    The thread is given up after `seconds`: looking up a name, for one, cannot be cancelled.

    Raises:
        TimeoutError: it took longer.
    """
    result: Future[T] = Future()
    context = contextvars.copy_context()

    async def awaited() -> T:
        return await work()

    def run() -> None:
        try:
            value = context.run(asyncio.run, awaited())
        except BaseException as fault:  # noqa: BLE001 - raised again in the thread that waits
            result.set_exception(fault)
        else:
            result.set_result(value)

    threading.Thread(target=run, name="mcp", daemon=True).start()
    return result.result(seconds)
