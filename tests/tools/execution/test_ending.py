"""Background tasks end, also those that lose a cancellation."""

from __future__ import annotations

import asyncio
import contextlib

from tools.execution.ending import end


async def test_a_task_that_loses_a_cancellation_ends_all_the_same() -> None:
    lost = 0

    async def forgetful() -> None:
        nonlocal lost
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        lost += 1
        await asyncio.sleep(60)

    task = asyncio.create_task(forgetful())
    await asyncio.sleep(0)
    await end(task)
    assert task.cancelled()
    assert lost == 1


async def test_tasks_that_are_over_are_left_alone() -> None:
    async def quick() -> int:
        return 7

    task = asyncio.create_task(quick())
    await task
    await end(task)
    assert task.result() == 7
