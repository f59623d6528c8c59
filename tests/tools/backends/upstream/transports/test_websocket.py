"""WebSocket on the wire: what is sent, and what frames mean."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.tools.backends.upstream.transports.sockets import Talk, sockets
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, at, opened
from tests.tools.backends.upstream.trial import eventually
from tools.backends.upstream.channel import ChannelFault, Garbage, TooLarge
from tools.upstreams import UpstreamTransport
from tools.vault import seal

NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}


async def echo(request: web.Request, socket: web.WebSocketResponse) -> None:
    """Answer each request with its parameters, in binary where the number is even."""
    async for frame in socket:
        message = frame.json()
        await socket.send_json(NOTICE)
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": message["params"]})
        if message["id"] % 2:
            await socket.send_str(answer)
        else:
            await socket.send_bytes(answer.encode())


def says(*frames: Any) -> Talk:
    """A server that answers the first request with these frames, then waits."""

    async def talk(request: web.Request, socket: web.WebSocketResponse) -> None:
        await socket.receive()
        for frame in frames:
            await socket.send_str(frame)
        await socket.receive()

    return talk


async def test_requests_are_answered_by_their_ids_and_notices_heard() -> None:
    heard = Heard()
    async with sockets(echo) as upstream, opened(upstream, heard) as channel:
        answers = await asyncio.gather(*(asked(channel, ask(n, n=n)) for n in range(1, 9)))
    assert [one["result"]["n"] for one in answers] == list(range(1, 9))
    assert heard.messages == [(NOTICE, None)] * 8


async def test_the_subprotocol_and_the_operators_headers_are_sent() -> None:
    seen: list[web.Request] = []

    async def look(request: web.Request, socket: web.WebSocketResponse) -> None:
        seen.append(request)
        await socket.receive()

    async with sockets(look) as upstream:
        sealed = seal(json.dumps({"Authorization": "Bearer hunter2"}))
        changed = at(upstream.url, transport=UpstreamTransport.WEBSOCKET, headers=sealed)
        async with opened(changed):
            await eventually(lambda: seen)
    assert seen[0].headers["Sec-WebSocket-Protocol"] == "mcp"
    assert seen[0].headers["Authorization"] == "Bearer hunter2"


@pytest.mark.parametrize("frame", ["not JSON", "7", '"text"', '{"half'])
async def test_frames_that_are_no_messages_are_garbage(frame: str) -> None:
    async with sockets(says(frame)) as upstream, opened(upstream) as channel:
        with pytest.raises(Garbage):
            await asked(channel, ask(1))
        assert channel.broken


async def test_a_frame_larger_than_20_mb_is_not_taken() -> None:
    async with sockets(says("x" * (21 << 20))) as upstream, opened(upstream) as channel:
        with pytest.raises(TooLarge, match="larger than 20 MB"):
            await asked(channel, ask(1))


async def test_who_waits_is_told_when_the_server_closes_the_socket() -> None:
    async def leave(request: web.Request, socket: web.WebSocketResponse) -> None:
        await socket.receive()
        await socket.close(code=aiohttp.WSCloseCode.GOING_AWAY)

    async with sockets(leave) as upstream, opened(upstream) as channel:
        with pytest.raises(ChannelFault, match="closed the socket") as told:
            await asked(channel, ask(1))
        assert told.value.sent
        with pytest.raises(ChannelFault) as after:
            await asked(channel, ask(2))
        assert not after.value.sent
