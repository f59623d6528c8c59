"""Clients that come and go, half of them without a word, in a process of their own.

    python -m tests.load.visitors URL TRANSPORT

`{"visits": NUMBER}` makes that many visits, several at a time. Every second visitor is an SDK client
that connects, calls and leaves; the others cut the connection: within a request, right after it,
or while their call runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
from typing import Any

import websockets

from tests.load.hands import next_order, say
from tests.load.wire import Connection, call_of, http_request, listen_to_tools, opening_of
from tests.tools.mcp_server.clients import Way, connected

AT_ONCE = 10
MODES = ("legacy", "auto")
# When a rude visitor cuts: stages of its visit.
EARLY, AFTER_THE_REQUEST, DURING_THE_CALL = range(3)


class Visitors:
    """Visits of one transport, and what went wrong on the clean ones."""

    def __init__(self, url: str, transport: str) -> None:
        self._url = url
        self._transport = transport
        self._random = random.Random(1)  # noqa: S311 - a repeatable campaign, not a secret
        self._faults: list[str] = []

    async def visits(self, number: int) -> dict[str, Any]:
        room = asyncio.Semaphore(AT_ONCE)

        async def one(index: int) -> None:
            async with room:
                mode = MODES[index // 2 % 2]
                await (self._polite(mode) if index % 2 else self._rude(mode, index // 4 % 3))

        await asyncio.gather(*(one(index) for index in range(number)))
        told = {"visits": number, "faults": self._faults}
        self._faults = []
        return told

    async def _polite(self, mode: str) -> None:
        try:
            async with connected(self._url, Way(self._transport, mode)) as client:
                result = await client.call_tool("echo", {"n": 1})
                assert not result.is_error
        except Exception as fault:  # noqa: BLE001 - whatever goes wrong is to be reported
            self._faults.append(repr(fault)[:300])

    async def _rude(self, mode: str, stage: int) -> None:
        # The server may be the one who cuts first.
        with contextlib.suppress(OSError, websockets.ConnectionClosed):
            await getattr(self, f"_cut_{self._transport}")(mode, stage)

    async def _cut_streamable_http(self, mode: str, stage: int) -> None:
        if stage != EARLY:
            raw = http_request(self._url, "POST", "/mcp", mode, call_of(mode, {"delay": 5}))
        elif mode == "legacy":
            raw = http_request(self._url, "GET", "/mcp", mode)
        else:
            raw = http_request(self._url, "POST", "/mcp", mode, listen_to_tools())
        if self._random.random() < 0.3:
            raw = raw[: self._random.randrange(1, len(raw))]
        async with Connection(self._url) as connection:
            await connection.send(raw)
            await self._linger(stage != AFTER_THE_REQUEST)

    async def _cut_sse(self, mode: str, stage: int) -> None:
        async with Connection(self._url) as stream:
            await stream.send(http_request(self._url, "GET", "/sse", mode))
            where = (await stream.line_with("data: /"))[6:]
            for message in self._said(mode, stage):
                async with Connection(self._url) as post:
                    await post.send(http_request(self._url, "POST", where, mode, message))
                    if stage != EARLY:
                        await post.line_with("HTTP/1.1")
            await self._linger(stage == DURING_THE_CALL)

    async def _cut_websocket(self, mode: str, stage: int) -> None:
        address = self._url.replace("http", "ws", 1) + "/ws"
        socket = await websockets.connect(address, subprotocols=[websockets.Subprotocol("mcp")])
        for message in self._said(mode, stage):
            await socket.send(json.dumps(message))
        await self._linger(stage == DURING_THE_CALL)
        socket.transport.abort()

    def _said(self, mode: str, stage: int) -> list[dict[str, Any]]:
        said = [*opening_of(mode), call_of(mode, {"delay": 5})]
        return said[:1] if stage == EARLY else said

    async def _linger(self, long: bool) -> None:
        """Long enough for a call to have begun, or not at all."""
        await asyncio.sleep(self._random.uniform(0.02, 0.1) if long else 0)


async def main(url: str, transport: str) -> None:
    """Follow the orders."""
    visitors = Visitors(url, transport)
    say({"here": True})
    while "leave" not in (order := await next_order()):
        say(await visitors.visits(order["visits"]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
