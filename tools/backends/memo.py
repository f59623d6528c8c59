"""An answer shared for a moment: askers in the same second get one computation between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Value]):
    value: Value
    fresh_until: float
    usable_until: float


class Memo(Generic[Value]):
    """Keeps each value for `seconds`; concurrent askers of one key wait for one computation.

    Values that are dear to compute are kept longer: for `rest` times as long as computing took, so
    that a busy process spends a bounded share of its time on them. For `grace` times as long after
    that, askers get the old value at once while it is renewed behind their back.

    A caller that is cancelled does not take the computation down for the others. A computation
    that fails is not kept. Values are handed out as they are: callers must not change them.
    """

    def __init__(
        self,
        seconds: float,
        *,
        rest: float = 0.0,
        grace: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._rest = rest
        self._grace = grace
        self._clock = clock
        self._kept: dict[Hashable, _Kept[Value]] = {}
        self._running: dict[Hashable, asyncio.Task[Value]] = {}

    async def get(self, key: Hashable, compute: Callable[[], Awaitable[Value]]) -> Value:
        """The value of `key`, computed when no usable one is kept."""
        kept, now = self._kept.get(key), self._clock()
        if kept is not None and now < kept.fresh_until:
            return kept.value
        task = self._running.get(key)
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            task = asyncio.ensure_future(self._compute(key, compute))
            task.add_done_callback(_look)
            self._running[key] = task
        if kept is not None and now < kept.usable_until:
            return kept.value
        return await asyncio.shield(task)

    def clear(self) -> None:
        """Forget every value; computations under way still answer those who wait."""
        self._kept.clear()
        self._running.clear()

    async def _compute(self, key: Hashable, compute: Callable[[], Awaitable[Value]]) -> Value:
        began = self._clock()
        try:
            value = await compute()
        finally:
            mine = self._running.get(key) is asyncio.current_task()
            if mine:
                del self._running[key]
        if mine:
            self._keep(key, value, began)
        return value

    def _keep(self, key: Hashable, value: Value, began: float) -> None:
        now = self._clock()
        took = now - began
        fresh_until = now + max(self._seconds, self._rest * took)
        self._kept = {name: kept for name, kept in self._kept.items() if now < kept.usable_until}
        self._kept[key] = _Kept(value, fresh_until, fresh_until + self._grace * took)


def _look(task: asyncio.Task[Value]) -> None:
    # When every waiter was cancelled nobody reads a failure; that is not worth a log entry.
    if not task.cancelled():
        task.exception()
