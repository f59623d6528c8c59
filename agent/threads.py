"""Runs asynchronous work from plain code, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def run_apart(work: Callable[[], Awaitable[T]], seconds: float) -> T:
    """The result of `work`, run in a thread and event loop of its own.

    The thread is given up after `seconds`: looking up a name, for one, cannot be cancelled.

    Raises:
        TimeoutError: it took longer.
    """
    return started_apart(work).result(seconds)


def started_apart(work: Callable[[], Awaitable[T]]) -> Future[T]:
    """What `work` will come to, in a thread and event loop of its own."""
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
    return result


async def over_within(future: Future[T], seconds: float) -> bool:
    """Whether it is over after `seconds` at most; it goes on in any case."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def tell(_: Future[T]) -> None:
        # The loop may have ended meanwhile: then nobody waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(over.set)

    future.add_done_callback(tell)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await over.wait()
    return future.done()
