"""Whatever happens, no process is left."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from tests.processes import wait_until
from tests.tools.backends.upstream.children.conftest import Starts
from tests.tools.backends.upstream.children.left import alive, children_of
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, opened
from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.children.limits import places
from tools.backends.upstream.transports import open_channel


async def test_the_child_runs_while_the_channel_is_open_and_is_gone_when_it_is_closed(
    starts: Starts, mark: str
) -> None:
    # S2-016 F2-01
    async with opened(starts()) as channel:
        assert channel.process_handle in alive(mark)
        assert (await asked(channel, ask(1, "any", a=1)))["result"] == {"a": 1}
    assert alive(mark) == []
    assert places.taken == 0


@pytest.mark.parametrize("way", ["deaf", "daemon", "family"])
async def test_children_that_do_not_want_to_leave_are_gone_when_the_channel_is_closed(
    starts: Starts, mark: str, way: str
) -> None:
    # S2-016
    heard = Heard()
    async with opened(starts(way), heard) as channel:
        if way == "deaf":
            while not heard.messages:
                await asyncio.sleep(0.01)
        else:
            await asked(channel, ask(1, "any"))
        # The guard, the command and whom it started.
        assert len(alive(mark)) == (2 if way == "deaf" else 3)
    assert alive(mark) == []


async def test_a_closing_that_is_cancelled_goes_on(starts: Starts, mark: str) -> None:
    channel = open_channel(starts("daemon"), Heard())
    await channel.open()
    closing = asyncio.create_task(channel.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await channel.close()
    assert alive(mark) == []


async def test_an_opening_that_is_cancelled_leaves_nothing(starts: Starts, mark: str) -> None:
    channel = open_channel(starts(), Heard())
    opening = asyncio.create_task(channel.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await channel.close()
    assert alive(mark) == []
    assert places.taken == 0


async def test_a_child_killed_in_the_middle_ends_the_exchange_at_once(
    starts: Starts, mark: str
) -> None:
    async with opened(starts()) as channel:
        waiting = asyncio.create_task(asked(channel, ask(1, "keep")))
        await asked(channel, ask(2, "any"))
        assert channel.process_handle is not None
        os.kill(channel.process_handle, signal.SIGKILL)
        with pytest.raises(ChannelFault, match="was ended by SIGKILL") as told:
            await waiting
        assert told.value.sent
        assert channel.broken == "was ended by SIGKILL"
        with pytest.raises(ChannelFault) as after:
            await asked(channel, ask(3))
        assert not after.value.sent
    assert alive(mark) == []


async def test_a_child_that_takes_no_input_as_it_leaves_is_told_by_how_it_left(
    starts: Starts,
) -> None:
    heard = Heard()
    async with opened(starts("leaving"), heard) as channel:
        while not heard.messages:
            await asyncio.sleep(0.01)
        with pytest.raises(ChannelFault, match="exited with status 3"):
            await asked(channel, ask(1, "any"))


async def test_what_a_killed_child_started_goes_with_it(starts: Starts, mark: str) -> None:
    async with opened(starts("daemon")) as channel:
        await asked(channel, ask(1, "any"))
        assert channel.process_handle is not None
        os.kill(channel.process_handle, signal.SIGKILL)
        await asyncio.to_thread(wait_until, lambda: alive(mark) == [])


async def test_when_the_guard_is_killed_nothing_is_left_either(starts: Starts, mark: str) -> None:
    async with opened(starts("daemon")) as channel:
        await asked(channel, ask(1, "any"))
        (guard,) = set(alive(mark)) & set(children_of(os.getpid()))
        os.kill(guard, signal.SIGKILL)
        with pytest.raises(ChannelFault):
            await asked(channel, ask(2, "keep"))
    await asyncio.to_thread(wait_until, lambda: alive(mark) == [])


async def test_a_hundred_children_in_a_row_leave_no_process_and_no_descriptor(
    starts: Starts, mark: str
) -> None:
    upstream = starts()
    async with opened(upstream) as channel:
        await asked(channel, ask(1, "any"))
    before = len(os.listdir("/proc/self/fd"))
    for number in range(100):
        async with opened(upstream) as channel:
            await asked(channel, ask(number, "any"))
    assert alive(mark) == []
    assert len(os.listdir("/proc/self/fd")) <= before
    assert places.taken == 0
