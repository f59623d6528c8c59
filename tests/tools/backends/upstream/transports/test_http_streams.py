"""Streamable HTTP: answers and notices that come as streams."""

from __future__ import annotations

import pytest

from tests.tools.backends.upstream.raw_http import (
    Asked,
    event,
    reply,
    result,
    serving,
    stream_head,
)
from tests.tools.backends.upstream.transports.http_answers import NOTICE, Pieces, answered
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, at, opened
from tools.backends.upstream.channel import (
    ChannelFault,
    Garbage,
)


async def test_a_stream_tells_notices_and_then_the_answer() -> None:
    heard = Heard()

    async def pieces(request: Asked) -> Pieces:
        whole = b": hello\n\n" + event(NOTICE, "event: message") + event(result(request, ok=1))
        yield stream_head()
        for place in range(0, len(whole), 7):
            yield whole[place : place + 7]

    async with serving(pieces) as server, opened(at(server.url), heard) as channel:
        assert (await asked(channel, ask(7)))["result"] == {"ok": 1}
    assert heard.messages == [(NOTICE, 7)]


async def test_a_stream_that_ends_without_an_answer_may_have_done_its_work() -> None:
    async def pieces(request: Asked) -> Pieces:
        yield stream_head() + event(NOTICE)

    with pytest.raises(ChannelFault, match="ended its stream before it answered") as told:
        await answered(pieces)
    assert told.value.sent


async def test_a_stream_that_breaks_is_continued_where_it_broke() -> None:
    first: list[Asked] = []

    async def pieces(request: Asked) -> Pieces:
        if request.method == "POST":
            first.append(request)
            yield stream_head(Mcp_Session_Id="s-1")
            yield event(NOTICE, "id: e-1", "retry: 1") + b'data: {"half'
        elif request.method == "GET":
            yield stream_head() + event(result(first[0], ok=1), "id: e-2")
        else:
            yield reply(b"")

    async with serving(pieces) as server, opened(at(server.url)) as channel:
        assert (await asked(channel, ask(1)))["result"] == {"ok": 1}
        continued = server.asked[1]
        assert (continued.method, continued.header("Last-Event-ID")) == ("GET", "e-1")
        assert continued.header("Mcp-Session-Id") == "s-1"


async def test_notices_are_followed_until_their_stream_ends() -> None:
    heard = Heard()

    async def pieces(request: Asked) -> Pieces:
        yield stream_head() + event(NOTICE) + event(NOTICE)

    async with serving(pieces) as server, opened(at(server.url), heard) as channel:
        await channel.listen({"MCP-Protocol-Version": "2025-11-25"})
        (request,) = server.asked
    assert heard.messages == [(NOTICE, None), (NOTICE, None)]
    assert (request.method, request.header("Accept")) == ("GET", "text/event-stream")
    assert request.header("Content-Type") == ""


async def test_a_server_without_a_stream_of_notices_is_no_fault() -> None:
    async with serving(lambda one: reply(b"", 405)) as server, opened(at(server.url)) as channel:
        await channel.listen({})
    async with serving(lambda one: reply(b"", 200)) as server, opened(at(server.url)) as channel:
        with pytest.raises(Garbage, match="no stream where one should be"):
            await channel.listen({})
