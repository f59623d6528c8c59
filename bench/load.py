"""A load generator that costs little: raw HTTP/1.1 over kept-alive connections, one event loop."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One request, encoded once."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Accept", "application/json"),)

    def encode(self, host: str) -> bytes:
        head = f"{self.method} {self.path} HTTP/1.1\r\nHost: {host}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in self.headers)
        if self.body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n"
        return head.encode() + b"\r\n" + self.body


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run measured."""

    requests: int
    errors: int
    seconds: float
    p50_ms: float
    p95_ms: float

    @property
    def rps(self) -> float:
        return self.requests / self.seconds


class Connection:
    """One kept-alive connection that sends the same request again and again."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def exchange(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of one answer."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        length = 0
        for line in head.split(b"\r\n")[1:]:
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
            elif line.lower() == b"transfer-encoding: chunked":
                return status, await self._chunks()
        return status, await self._reader.readexactly(length) if length else b""

    async def _chunks(self) -> bytes:
        parts = []
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            parts.append((await self._reader.readexactly(size + 2))[:-2])
        await self._reader.readexactly(2)
        return b"".join(parts)

    def close(self) -> None:
        self._writer.close()


async def fetch(port: int, request: Request) -> tuple[int, bytes]:
    """One exchange on a connection of its own."""
    connection = Connection(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 24))
    try:
        return await connection.exchange(request.encode(f"127.0.0.1:{port}"))
    finally:
        connection.close()


async def run(port: int, request: Request, connections: int, seconds: float) -> Figures:
    """Load `connections` connections for `seconds`."""
    encoded = request.encode(f"127.0.0.1:{port}")
    opened = [
        Connection(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 24))
        for _ in range(connections)
    ]
    latencies: list[float] = []
    errors = 0
    start = time.perf_counter()
    stop = start + seconds

    async def work(connection: Connection) -> None:
        nonlocal errors
        while (began := time.perf_counter()) < stop:
            status, _ = await connection.exchange(encoded)
            latencies.append(time.perf_counter() - began)
            errors += status != 200

    await asyncio.gather(*(work(connection) for connection in opened))
    elapsed = time.perf_counter() - start
    for connection in opened:
        connection.close()
    latencies.sort()
    return Figures(
        requests=len(latencies),
        errors=errors,
        seconds=elapsed,
        p50_ms=rank(latencies, 0.50),
        p95_ms=rank(latencies, 0.95),
    )


def rank(values: list[float], share: float) -> float:
    return values[max(0, math.ceil(len(values) * share) - 1)] * 1000 if values else 0.0
