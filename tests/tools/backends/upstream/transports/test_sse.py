"""HTTP with SSE on the wire: one stream, and the address to write to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from tests.tools.backends.upstream.raw_http import (
    Asked,
    RawServer,
    event,
    reply,
    result,
    serving,
    stream_head,
)
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, at, opened
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import (
    ChannelFault,
    Garbage,
    Refused,
    SessionExpired,
    TooLarge,
)
from tools.upstreams import Upstream, UpstreamTransport
from tools.vault import seal

Pieces = AsyncGenerator[bytes, None]
NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}
ENDPOINT = b"event: endpoint\ndata: /messages?session=1\n\n"


class Stream:
    """A server whose stream the test writes to."""

    def __init__(self, endpoint: bytes = ENDPOINT, posted: Callable[[Asked], bytes] | None = None):
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.posted = posted or self._answer
        self.pieces.put_nowait(endpoint)

    def __call__(self, request: Asked) -> bytes | Pieces:
        return self._stream() if request.method == "GET" else self.posted(request)

    def say(self, raw: bytes | None) -> None:
        """Send on the stream; None ends it."""
        self.pieces.put_nowait(raw)

    async def _stream(self) -> Pieces:
        yield stream_head()
        while (piece := await self.pieces.get()) is not None:
            yield piece

    def _answer(self, request: Asked) -> bytes:
        self.say(event(result(request, ok=True), "event: message"))
        return reply(b"Accepted", 202, "text/plain")


def reached(server: RawServer, **changes: Any) -> Upstream:
    url = f"http://127.0.0.1:{server.port}/sse"
    return at(url, transport=UpstreamTransport.SSE, **{"connect_timeout": 5, **changes})


async def test_messages_go_to_the_address_that_the_server_names() -> None:
    headers = seal(json.dumps({"Authorization": "Bearer hunter2"}))
    heard = Heard()
    stream = Stream()
    async with (
        serving(stream) as server,
        opened(reached(server, headers=headers), heard) as channel,
    ):
        assert (await asked(channel, ask(1)))["result"] == {"ok": True}
        stream.say(event(NOTICE))
        await eventually(lambda: heard.messages)
        listening, posting = server.asked
    assert heard.messages == [(NOTICE, None)]
    assert (listening.method, listening.path) == ("GET", "/sse")
    assert listening.header("Accept") == "text/event-stream"
    assert (posting.method, posting.path) == ("POST", "/messages?session=1")
    assert {listening.header("Authorization"), posting.header("Authorization")} == {
        "Bearer hunter2"
    }


@pytest.mark.parametrize(
    "endpoint",
    [
        b"http://evil.example/messages",
        b"//evil.example/messages",
        b"http://127.0.0.1:1/messages",
        b"https://127.0.0.1/messages",
        b"http://[::1",
        b"\xff",
    ],
)
async def test_nothing_is_written_to_another_host(endpoint: bytes) -> None:
    stream = Stream(b"event: endpoint\ndata: " + endpoint + b"\n\n")
    async with serving(stream) as server:
        with pytest.raises(ChannelFault, match="written to at another host") as told:
            async with opened(reached(server)):
                pass
        assert not told.value.sent
        assert [one.method for one in server.asked] == ["GET"]


async def test_a_server_that_does_not_say_where_to_write_to_is_given_up() -> None:
    async with serving(Stream(b": hello\n\n")) as server:
        with pytest.raises(ChannelFault, match="did not say in time where to write to"):
            async with opened(reached(server, connect_timeout=0.2)):
                pass


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (reply(b"", 401), Refused),
        (reply(b"", 503), Refused),
        (reply(b"", 302, Location="http://127.0.0.1:1/"), Refused),
        (reply(b"<html></html>", 200, "text/html"), Garbage),
        (stream_head() + b"data: not JSON\n\n", ChannelFault),
    ],
)
async def test_a_server_that_has_no_stream_is_told(answer: bytes, fault: type[Exception]) -> None:
    async with serving(lambda one: answer) as server:
        with pytest.raises(fault):
            async with opened(reached(server)):
                pass
        assert len(server.asked) == 1


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
