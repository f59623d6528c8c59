"""Streamable HTTP: connections that break, are shared, cancelled and closed."""

from __future__ import annotations

import asyncio

import pytest

from tests.doors import free_port
from tests.tools.backends.upstream.raw_http import (
    Asked,
    event,
    reply,
    result,
    serving,
    stream_head,
)
from tests.tools.backends.upstream.transports.http_answers import Pieces, answered, fine
from tests.tools.backends.upstream.transports.talk import ask, asked, at, opened
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import (
    ChannelFault,
)


async def test_a_connection_that_breaks_before_the_answer_may_have_done_its_work() -> None:
    with pytest.raises(ChannelFault, match="broke the connection") as told:
        await answered(lambda one: b"")
    assert told.value.sent


async def test_a_closed_port_is_told_as_such_and_nothing_was_sent() -> None:
    port = free_port()
    async with opened(at(f"http://127.0.0.1:{port}/mcp")) as channel:
        with pytest.raises(ChannelFault, match=f"127.0.0.1:{port} cannot be reached: ") as told:
            await asked(channel, ask(1))
    assert not told.value.sent


async def test_a_kept_connection_that_the_server_closed_is_not_taken_for_a_failure() -> None:
    def once(request: Asked) -> bytes:
        return reply(result(request, ok=True), Connection="close")

    async with serving(once) as server, opened(at(server.url)) as channel:
        for number in range(1, 4):
            assert (await asked(channel, ask(number)))["result"] == {"ok": True}


async def test_many_exchanges_go_on_at_once() -> None:
    waiting = asyncio.Event()

    async def pieces(request: Asked) -> Pieces:
        await waiting.wait()
        yield stream_head() + event(result(request, number=request.message["id"]))

    async with serving(pieces) as server, opened(at(server.url)) as channel:
        running = [asyncio.create_task(asked(channel, ask(number))) for number in range(20)]
        await eventually(lambda: len(server.asked) == 20)
        waiting.set()
        answers = await asyncio.gather(*running)
    assert [one["result"]["number"] for one in answers] == list(range(20))


async def test_a_cancelled_exchange_hangs_up_and_the_next_one_works() -> None:
    gone = asyncio.Event()

    async def pieces(request: Asked) -> Pieces:
        yield stream_head()
        if request.message["id"] == 1:
            try:
                while True:
                    yield b": still here\n\n"
                    await asyncio.sleep(0.01)
            finally:
                gone.set()
        yield event(result(request, ok=True))

    async with serving(pieces) as server, opened(at(server.url)) as channel:
        running = asyncio.create_task(asked(channel, ask(1)))
        await eventually(lambda: server.asked)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with asyncio.timeout(10):
            await gone.wait()
        assert (await asked(channel, ask(2)))["result"] == {"ok": True}


async def test_a_closed_channel_takes_nothing_more() -> None:
    async with serving(fine) as server, opened(at(server.url)) as channel:
        await channel.close()
        await channel.close()
        assert channel.broken
        with pytest.raises(ChannelFault) as told:
            await asked(channel, ask(1))
        assert not told.value.sent


async def test_closing_the_channel_ends_what_is_under_way() -> None:
    async def silent(request: Asked) -> Pieces:
        yield stream_head() if request.message["id"] == 1 else b""
        await asyncio.Event().wait()

    async with serving(silent) as server, opened(at(server.url)) as channel:
        running = [asyncio.create_task(asked(channel, ask(number))) for number in (1, 2)]
        await eventually(lambda: len(server.asked) == 2)
        await channel.close()
        for one in running:
            with pytest.raises(ChannelFault) as told:
                await one
            assert told.value.sent
