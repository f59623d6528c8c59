"""Calls on a worker: one event loop in a thread of its own, with the parts that calls share.

Celery runs its tasks one after another in the main thread of each of its processes. Opening the
catalogue and the connections for each of them would cost more than most calls, so they are opened
with the first and stay open until the process ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from tools.execution.runtime import open_runtime

STOP_SECONDS: Final = 5.0
_T = TypeVar("_T")
_Loop = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class Background:
    """A running event loop with a runtime; starts when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._opened: Future[_Loop] = Future()

    def run(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Run `work` there and give back what it returns or raises.

        An exception that meets this thread meanwhile, such as a time limit, cancels it.
        """
        loop, _ = self.open()
        future = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Let go of everything; the next run opens it again."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                loop, stop = self._opened.result()
                loop.call_soon_threadsafe(stop.set)
                self._thread.join(STOP_SECONDS)
            self._thread = None

    def open(self) -> _Loop:
        """The loop, and the event that ends it. Opened now unless it is open.

        Raises:
            Exception: whatever kept the catalogue from being read.
        """
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._opened = Future()
                self._thread = threading.Thread(
                    target=asyncio.run, args=(_serve(self._opened),), name="calls", daemon=True
                )
                self._thread.start()
            return self._opened.result()


async def _serve(opened: Future[_Loop]) -> None:
    stop = asyncio.Event()
    try:
        async with open_runtime():
            opened.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()
    except Exception as fault:
        if opened.done():
            raise
        # Raised where the loop is waited for.
        opened.set_exception(fault)


background = Background()
