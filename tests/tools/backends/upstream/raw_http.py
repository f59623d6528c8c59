"""HTTP by hand on this machine, for servers that answer whatever a test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from tests.mcp_upstream_wire import header


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    head: bytes
    body: bytes

    def header(self, name: str) -> str:
        return header(self.head, name.lower().encode()).decode()

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message in it."""
        read: dict[str, Any] = json.loads(self.body)
        return read


# Bytes are sent; pieces are sent one by one, and the connection is closed after them.
Answer = Callable[[Asked], bytes | AsyncGenerator[bytes, None]]


@dataclass
class RawServer:
    """Where it is, and what it was asked."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[RawServer]:
    """A server that answers every request with what `answer` gives."""
    made = RawServer()
    talking: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await _serve_one(reader, writer, made, answer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talking.add(asyncio.create_task(talk(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)


async def _serve_one(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, made: RawServer, answer: Answer
) -> bool:
    """Whether the connection stays open after it."""
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(header(head, b"content-length") or 0))
    method, path, _ = head.split(b" ", 2)
    asked = Asked(method.decode(), path.decode(), head, body)
    made.asked.append(asked)
    answered = answer(asked)
    if isinstance(answered, bytes):
        writer.write(answered)
        await writer.drain()
        return bool(answered)
    async with aclosing(answered) as pieces:
        async for piece in pieces:
            writer.write(piece)
            await writer.drain()
    return False


def reply(
    body: Any = b"", status: int = 200, kind: str = "application/json", **headers: str
) -> bytes:
    """A whole answer; what is no bytes is written as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Content-Type": kind, "Content-Length": str(len(raw)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
    start = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
    return "\r\n".join([start, *lines, "", ""]).encode() + raw


def stream_head(**headers: str) -> bytes:
    """The beginning of an event stream that ends with its connection."""
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
        + "".join(lines).encode()
        + b"\r\n"
    )


def event(message: Any, *lines: str) -> bytes:
    """An event with a message, and other fields such as its id."""
    return "\n".join([*lines, f"data: {json.dumps(message)}", "", ""]).encode()


def result(asked: Asked, **values: Any) -> dict[str, Any]:
    """The response to a request."""
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": values}


def error(asked: Asked, code: int, message: str) -> dict[str, Any]:
    """The refusal of a request."""
    words = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": asked.message.get("id"), "error": words}
