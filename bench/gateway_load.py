"""Clients of either era that cost little: whole HTTP requests as bytes over kept-alive connections."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from bench.gateway_upstream import HANDSHAKE, MODERN
from bench.load import Figures, rank
from tests.mcp_upstream_wire import header


@dataclass(frozen=True, slots=True)
class Door:
    """Where calls go: a port, a prefix of the names of tools there, and the key to show."""

    port: int
    prefix: str = ""
    key: str = ""


class Client(asyncio.Protocol):
    """One connection with one request under way at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._waiting: asyncio.Future[tuple[bytes, bytes]] | None = None
        self._transport: Any = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionResetError("the server hung up"))

    @override
    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or self._waiting is None:
            return
        head = self._buffer[:end]
        if size := header(head, b"content-length"):
            whole = len(self._buffer) >= end + 4 + int(size)
        else:
            # Only greetings are answered so; what is inside does not matter here.
            whole = self._buffer.endswith(b"\r\n0\r\n\r\n") or b"chunked" not in head
        if whole:
            body = self._buffer[end + 4 :]
            self._buffer = b""
            self._waiting.set_result((head, body))

    async def exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Head and body of the answer."""
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._waiting

    def close(self) -> None:
        self._transport.close()


def request(door: Door, version: str, method: str, session: str = "", **params: Any) -> bytes:
    """A whole request of that era; a notice when the method is one."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications/"):
        message["id"] = 1
    headers = {
        "Host": f"127.0.0.1:{door.port}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
    }
    if door.key:
        headers["Authorization"] = f"Bearer {door.key}"
    if session:
        headers["Mcp-Session-Id"] = session
    if version == MODERN:
        headers["Mcp-Method"] = method
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        }
    body = json.dumps(message).encode()
    headers["Content-Length"] = str(len(body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body


class Visitor:
    """A client that has said hello, with its one request ready to be sent again and again."""

    def __init__(self, door: Door, version: str) -> None:
        self._door, self._version = door, version
        self._session = ""
        self._client = Client()

    async def connect(self) -> Visitor:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self._client, "127.0.0.1", self._door.port)
        if self._version == HANDSHAKE:
            about = {"name": "bench", "version": "1"}
            hello = request(
                self._door,
                HANDSHAKE,
                "initialize",
                protocolVersion=HANDSHAKE,
                capabilities={},
                clientInfo=about,
            )
            head, _ = await self._client.exchange(hello)
            self._session = header(head, b"mcp-session-id").decode()
            ready = "notifications/initialized"
            await self._client.exchange(request(self._door, HANDSHAKE, ready, self._session))
        return self

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """One call; what was answered."""
        _, body = await self._client.exchange(self.encoded(tool, **arguments))
        answer: dict[str, Any] = json.loads(body)
        return answer

    def encoded(self, tool: str, **arguments: Any) -> bytes:
        name = f"{self._door.prefix}{tool}"
        return request(
            self._door, self._version, "tools/call", self._session, name=name, arguments=arguments
        )

    async def send(self, encoded: bytes) -> bool:
        """Whether the answer was the one that was expected."""
        head, body = await self._client.exchange(encoded)
        return head.startswith(b"HTTP/1.1 200") and TEXT in body

    def close(self) -> None:
        self._client.close()


SAID = "the quick brown fox jumps over the lazy dog"
TEXT = SAID.encode()


async def visitors(door: Door, version: str, clients: int) -> list[Visitor]:
    """So many connected clients."""
    return [await Visitor(door, version).connect() for _ in range(clients)]


async def load(
    door: Door, version: str, clients: int, *, seconds: float = 0, calls: int = 0
) -> Figures:
    """Let the clients call `echo` one after the other for so long, or so often in all."""
    crowd = await visitors(door, version, clients)
    latencies: list[float] = []
    errors = 0
    start = time.perf_counter()
    stop = start + seconds if seconds else float("inf")

    async def work(visitor: Visitor) -> None:
        nonlocal errors
        encoded = visitor.encoded("echo", text=SAID)
        while (began := time.perf_counter()) < stop and (not calls or len(latencies) < calls):
            errors += not await visitor.send(encoded)
            latencies.append(time.perf_counter() - began)

    await asyncio.gather(*map(work, crowd))
    elapsed = time.perf_counter() - start
    for visitor in crowd:
        visitor.close()
    latencies.sort()
    return Figures(len(latencies), errors, elapsed, rank(latencies, 0.50), rank(latencies, 0.95))


async def asleep_together(door: Door, version: str, clients: int, milliseconds: int) -> float:
    """Seconds until all of so many clients have slept through one call, all at once."""
    crowd = await visitors(door, version, clients)
    await asyncio.gather(*(visitor.call("echo", text=SAID) for visitor in crowd))
    began = time.perf_counter()
    answers = await asyncio.gather(*(visitor.call("sleep", ms=milliseconds) for visitor in crowd))
    elapsed = time.perf_counter() - began
    for visitor in crowd:
        visitor.close()
    assert all("slept" in json.dumps(answer) for answer in answers), answers[:1]
    return elapsed
