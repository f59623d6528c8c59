"""Stages 4 and 6: the caller's rate, then a slot of the tool."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from tools.contracts import Caller, Deadline, ToolSpec
from tools.errors import ConcurrencyExceeded, RateLimited
from tools.guards.concurrency import Slots, SlotsFull
from tools.guards.rate import RateLimiter

_T = TypeVar("_T")


async def take_rate(caller: Caller, limiter: RateLimiter) -> int:
    """Spend one of the caller's calls; how many are left.

    Raises:
        RateLimited: when none was left.
    """
    decision = await limiter.take(caller.identifier, caller.rate_per_minute)
    if not decision.allowed:
        raise RateLimited(
            f"More than {caller.rate_per_minute} calls per minute", decision.retry_after
        )
    return decision.remaining


async def in_slot(
    spec: ToolSpec, slots: Slots, deadline: Deadline, work: Callable[[], Awaitable[_T]]
) -> _T:
    """Do `work` in one of the tool's slots; tools without a limit need none.

    Raises:
        ConcurrencyExceeded: when none came free while the call may wait.
    """
    if spec.max_concurrent is None:
        return await work()
    async with slot(spec, slots, deadline):
        return await work()


@asynccontextmanager
async def slot(spec: ToolSpec, slots: Slots, deadline: Deadline) -> AsyncIterator[None]:
    """Hold one of the tool's slots; tools without a limit need none.

    Raises:
        ConcurrencyExceeded: when none came free while the call may wait.
    """
    if spec.max_concurrent is None:
        yield
        return
    wait = min(spec.queue_timeout_seconds, deadline.remaining())
    async with AsyncExitStack() as held:
        try:
            await held.enter_async_context(slots.hold(spec.name, spec.max_concurrent, wait))
        except SlotsFull as full:
            raise ConcurrencyExceeded(
                f"{spec.name} is busy: {spec.max_concurrent} calls are running", full.retry_after
            ) from full
        yield
