"""HTTP with SSE: streams that end or make no sense, and refusals of what is written."""

from __future__ import annotations

import asyncio

import pytest

from tests.tools.backends.upstream.raw_http import (
    reply,
    serving,
)
from tests.tools.backends.upstream.transports.sse_stream import Stream, reached
from tests.tools.backends.upstream.transports.talk import ask, asked, opened
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import (
    ChannelFault,
    Garbage,
    Refused,
    SessionExpired,
    TooLarge,
)


@pytest.mark.parametrize(
    ("said", "fault"),
    [(None, ChannelFault), (b"data: not JSON\n\n", Garbage), (b"data: 7\n\n", Garbage)],
)
async def test_who_waits_is_told_when_the_stream_ends_or_makes_no_sense(
    said: bytes | None, fault: type[ChannelFault]
) -> None:
    stream = Stream(posted=lambda one: reply(b"", 202))
    async with serving(stream) as server, opened(reached(server)) as channel:
        waiting = asyncio.create_task(asked(channel, ask(1)))
        await eventually(lambda: len(server.asked) == 2)
        stream.say(said)
        with pytest.raises(fault) as told:
            await waiting
        assert told.value.sent
        assert channel.broken
        with pytest.raises(ChannelFault):
            await asked(channel, ask(2))


async def test_an_event_larger_than_20_mb_is_not_read() -> None:
    stream = Stream(posted=lambda one: reply(b"", 202))
    async with serving(stream) as server, opened(reached(server)) as channel:
        waiting = asyncio.create_task(asked(channel, ask(1)))
        await eventually(lambda: len(server.asked) == 2)
        stream.say(b"data: ")
        for _ in range(25):
            stream.say(b"x" * (1 << 20))
        with pytest.raises(TooLarge, match="larger than 20 MB"):
            await waiting


async def test_a_forgotten_session_and_a_refusal_are_told_apart() -> None:
    for status, fault in ((404, SessionExpired), (401, Refused), (500, Refused)):
        stream = Stream(posted=lambda one, status=status: reply(b"", status))  # type: ignore[misc]
        async with serving(stream) as server, opened(reached(server)) as channel:
            with pytest.raises(fault):
                await asked(channel, ask(1))


async def test_what_is_written_is_not_redirected() -> None:
    async with serving(lambda one: reply(b"")) as other:
        stream = Stream(posted=lambda one: reply(b"", 307, Location=other.url))
        async with serving(stream) as server, opened(reached(server)) as channel:
            with pytest.raises(Refused, match="not followed"):
                await asked(channel, ask(1))
        assert other.asked == []
