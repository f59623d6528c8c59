"""A server of WebSockets that talks as a test wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from tests.tools.backends.upstream.transports.talk import at
from tools.upstreams import Upstream, UpstreamTransport

Talk = Callable[[web.Request, web.WebSocketResponse], Awaitable[None]]


@asynccontextmanager
async def sockets(talk: Talk) -> AsyncIterator[Upstream]:
    """A server that talks like this on every socket."""

    async def handle(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=("mcp",), max_msg_size=0)
        await socket.prepare(request)
        await talk(request, socket)
        return socket

    app = web.Application()
    app.router.add_get("/ws", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield at(f"ws://127.0.0.1:{port}/ws", transport=UpstreamTransport.WEBSOCKET)
    finally:
        await runner.cleanup()
