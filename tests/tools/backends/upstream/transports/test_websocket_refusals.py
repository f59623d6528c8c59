"""WebSocket: servers that refuse, redirect or do not answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web

from tests.tools.backends.upstream.raw_http import reply, serving
from tests.tools.backends.upstream.transports.sockets import sockets
from tests.tools.backends.upstream.transports.talk import Heard, ask, asked, at, opened
from tools.backends.upstream.channel import ChannelFault, Refused
from tools.backends.upstream.transports.websocket import WebSocketChannel
from tools.upstreams import UpstreamTransport


async def test_a_server_that_lets_pings_pass_is_given_up() -> None:
    async def deaf(request: web.Request, socket: web.WebSocketResponse) -> None:
        request.transport.pause_reading()  # type: ignore[union-attr]
        await gone.wait()

    gone = asyncio.Event()
    async with sockets(deaf) as upstream:
        channel = WebSocketChannel(upstream, Heard(), heartbeat=0.1)
        await channel.open()
        try:
            with pytest.raises(ChannelFault):
                await asked(channel, ask(1))
        finally:
            gone.set()
            await channel.close()


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 503])
async def test_a_status_in_place_of_a_socket_is_told(status: int) -> None:
    async with serving(lambda one: reply(b"no", status, "text/plain")) as server:
        url = f"ws://127.0.0.1:{server.port}/ws"
        with pytest.raises(Refused, match=f"status {status}") as told:
            async with opened(at(url, transport=UpstreamTransport.WEBSOCKET)):
                pass
    assert told.value.status == status


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    async with serving(lambda one: reply(b"")) as other:
        elsewhere = reply(b"", status, Location=f"http://127.0.0.1:{other.port}/ws")
        async with serving(lambda one: elsewhere) as server:
            url = f"ws://127.0.0.1:{server.port}/ws"
            with pytest.raises(Refused, match="elsewhere") as told:
                async with opened(at(url, transport=UpstreamTransport.WEBSOCKET)):
                    pass
        assert other.asked == []
    assert told.value.status == status


async def test_a_server_that_does_not_answer_is_given_up_in_time() -> None:
    async def silent(request: Any) -> Any:
        await asyncio.Event().wait()
        yield b""

    async with serving(silent) as server:
        url = f"ws://127.0.0.1:{server.port}/ws"
        upstream = at(url, transport=UpstreamTransport.WEBSOCKET, connect_timeout=0.2)
        with pytest.raises(ChannelFault, match="no connection in time") as told:
            async with opened(upstream):
                pass
    assert not told.value.sent
