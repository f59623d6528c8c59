"""Answers over HTTP leave in as few writes as they can, and no faster than they are read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override
from uvicorn.server import ServerState

from controlplane.runtime.joining import JoiningHttp
from tools.mcp_server.bodies import IS_WHOLE

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
PIECE = bytes(64 << 10)
PIECES = 1000


class Counted:
    """A transport that notes what was written to it at once."""

    def __init__(self, transport: asyncio.Transport, writes: list[bytes]) -> None:
        self._transport, self._writes = transport, writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def writelines(self, pieces: Iterable[bytes]) -> None:
        self._writes.append(b"".join(pieces))
        self._transport.write(self._writes[-1])


@asynccontextmanager
async def serving(
    app: ASGIApp, writes: list[bytes]
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server of `app`."""

    class Watched(JoiningHttp):
        @override
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(cast(asyncio.Transport, Counted(transport, writes)))

    config = uvicorn.Config(cast(Any, app), log_config=None, lifespan="off")
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: Watched(config, state, {}), "127.0.0.1", 0
    )
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        async with asyncio.timeout(20):
            yield reader, writer
    finally:
        writer.close()
        server.close()


async def answer(send: Send, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize("connection", [b"keep-alive", b"close"])
async def test_an_answer_leaves_in_one_write(connection: bytes) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await answer(send, b"hello")

    writes: list[bytes] = []
    async with serving(app, writes) as (reader, writer):
        writer.write(HEAD.replace(b"Host: x", b"Host: x\r\nConnection: " + connection) + b"body")
        assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200 OK\r\n")
    assert len(writes) == 1


async def test_who_writes_much_waits_for_its_reader() -> None:
    sent = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal sent
        length = (b"content-length", str(PIECES * len(PIECE)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        for number in range(PIECES):
            more = number + 1 < PIECES
            await send({"type": "http.response.body", "body": PIECE, "more_body": more})
            sent += 1

    async with serving(app, []) as (reader, writer):
        writer.write(HEAD + b"body")
        await reader.readuntil(b"\r\n\r\n")
        assert sent < PIECES
        assert len(await reader.readexactly(PIECES * len(PIECE))) == PIECES * len(PIECE)
    assert sent == PIECES


async def test_only_a_body_that_is_all_there_is_marked() -> None:
    marked: list[bool] = []
    begun = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        marked.append(IS_WHOLE in scope)
        begun.set()
        while (await receive())["more_body"]:
            pass
        await answer(send, b"hello")

    async with serving(app, []) as (reader, writer):
        writer.write(HEAD + b"body")
        await reader.readuntil(b"hello")
        begun.clear()
        writer.write(HEAD + b"bo")
        await begun.wait()
        writer.write(b"dy")
        await reader.readuntil(b"hello")
    assert marked == [True, False]
