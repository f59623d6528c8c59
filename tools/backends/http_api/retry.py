"""Attempts until one succeeds, as far as that is safe and there is time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

from tools.backends.http_api.failures import Failed
from tools.backends.http_api.outgoing import Answer
from tools.backends.http_api.waits import pause
from tools.contracts import Deadline
from tools.errors import RateLimited


async def until_answered(
    attempt: Callable[[int], Awaitable[Answer]],
    admit: Callable[[], Awaitable[object]],
    *,
    retries: int,
    deadline: Deadline,
) -> Answer:
    """The first good answer. Attempts are numbered from 0; `admit` is asked before each.

    Raises:
        ControlPlaneError: what the last attempt failed with.
    """
    failed: Failed | None = None
    for number in count():
        try:
            await admit()
        except RateLimited:
            # For want of another attempt, the earlier one has the last word.
            if failed is None:
                raise
            raise failed.error from None
        try:
            return await attempt(number)
        except Failed as fault:
            failed = fault
            may = fault.again and number < retries
            wait = pause(number, fault.wait, deadline.remaining()) if may else None
        if wait is None:
            raise failed.error
        await asyncio.sleep(wait)
    raise AssertionError("attempts are counted without end")
