"""Clients that ask for much and never read, in a process of their own.

    python -m tests.load.idlers URL KILOBYTES

Each opens its door, sends its messages and then reads nothing more. `{"idle": NUMBER}` makes that
many of every kind, `{"leave": true}` lets them go.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

from tests.load.hands import next_order, say
from tests.load.wire import Connection, call_of, http_request, listen_to_tools, opening_of

# What a client that reads nothing takes in all the same is the kernel's share; made small here.
BUFFER = 4096
CALLS = 400
UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: mcp\r\n\r\n"
)


class Idlers:
    """Connections that are open and not read."""

    def __init__(self, url: str, kilobytes: int, stack: AsyncExitStack) -> None:
        self._url = url
        self._stack = stack
        self._large = {"result": {"rows": ["x" * 1000] * kilobytes}}
        self._number = 0

    async def idle(self, number: int) -> dict[str, Any]:
        kinds = (self._watching, self._listening, self._calling, self._on_sse, self._on_websocket)
        for kind in kinds:
            for _ in range(number):
                await kind()
        return {"idle": self._number}

    async def _watching(self) -> None:
        await (await self._connected()).send(http_request(self._url, "GET", "/mcp", "legacy"))

    async def _listening(self) -> None:
        raw = http_request(self._url, "POST", "/mcp", "auto", listen_to_tools())
        await (await self._connected()).send(raw)

    async def _calling(self) -> None:
        raw = http_request(self._url, "POST", "/mcp", "auto", call_of("auto", self._large))
        await (await self._connected()).send(raw)

    async def _on_sse(self) -> None:
        stream = await self._connected()
        await stream.send(http_request(self._url, "GET", "/sse", "legacy"))
        where = (await stream.line_with("data: /"))[6:]
        for message in self._said():
            async with Connection(self._url) as post:
                await post.send(http_request(self._url, "POST", where, "legacy", message))
                if await post.line_with("HTTP/1.1") != "HTTP/1.1 202 Accepted":
                    return

    async def _on_websocket(self) -> None:
        connection = await self._connected()
        await connection.send(UPGRADE.format(urlsplit(self._url).netloc).encode())
        assert await connection.line_with("HTTP/1.1") == "HTTP/1.1 101 Switching Protocols"
        frames = b"".join(_frame(json.dumps(message).encode()) for message in self._said())
        # The server takes only as many as it has room for, so this may never end.
        sending = asyncio.create_task(connection.send(frames))
        self._stack.callback(sending.cancel)

    def _said(self) -> list[dict[str, Any]]:
        calls = [call_of("legacy", self._large, number) for number in range(1, CALLS + 1)]
        return [*opening_of("legacy"), *calls]

    async def _connected(self) -> Connection:
        self._number += 1
        return await self._stack.enter_async_context(Connection(self._url, BUFFER))


def _frame(payload: bytes) -> bytes:
    """A text frame of a client, masked with nothing."""
    size = len(payload)
    if size < 126:
        head = bytes([0x81, 0x80 | size])
    elif size < 1 << 16:
        head = b"\x81\xfe" + size.to_bytes(2, "big")
    else:
        head = b"\x81\xff" + size.to_bytes(8, "big")
    return head + b"\0\0\0\0" + payload


async def main(url: str, kilobytes: int) -> None:
    """Follow the orders."""
    async with AsyncExitStack() as stack:
        idlers = Idlers(url, kilobytes, stack)
        say({"here": True})
        while "leave" not in (order := await next_order()):
            say(await idlers.idle(order["idle"]))
    say({"left": True})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
