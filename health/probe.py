"""A thread of its own for a check that may hang."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Probe(Generic[Value]):
    """Runs one piece of work at a time, in a thread, and takes no more while that one lasts.

    The thread is a daemon: work that never returns costs one thread and does not hold up the end
    of the process.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._idle = threading.Lock()

    def submit(self, work: Callable[[], Value]) -> Future[Value] | None:
        """Start `work`; None, without starting it, while the last one still runs."""
        if not self._idle.acquire(blocking=False):
            return None
        future: Future[Value] = Future()
        # Running work cannot be cancelled; saying so keeps a waiter's cancellation off the future.
        future.set_running_or_notify_cancel()
        threading.Thread(target=self._run, args=(work, future), name=self.name, daemon=True).start()
        return future

    def _run(self, work: Callable[[], Value], future: Future[Value]) -> None:
        try:
            value = work()
        except BaseException as fault:  # noqa: BLE001 - handed to whoever waits
            self._idle.release()
            future.set_exception(fault)
        else:
            self._idle.release()
            future.set_result(value)
