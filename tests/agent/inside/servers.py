"""MCP servers on real ports: whole ones, and answers written by hand for what no SDK would send."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from mcp.server.fastmcp import FastMCP
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.http_server import HttpServer, Reply, http_server, json_reply

PROTOCOL: Final = "2025-11-25"


@dataclass
class Served:
    """A server at `url`; what it was asked is kept."""

    port: int
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def asked(self, method: str) -> list[dict[str, Any]]:
        return [body for body in self.bodies if body.get("method") == method]


@contextmanager
def served(mcp: FastMCP, port: int = 0) -> Iterator[Served]:
    """The server in a thread, stopped afterwards."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    # Whoever connects before it runs waits for that.
    listener.listen()
    kept = Served(listener.getsockname()[1])
    config = uvicorn.Config(_kept(mcp.streamable_http_app(), kept), log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield kept
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        listener.close()


def _kept(app: ASGIApp, kept: Served) -> ASGIApp:
    async def keeping(scope: Scope, receive: Receive, send: Send) -> None:
        async def received() -> Any:
            message = await receive()
            if message.get("body"):
                kept.bodies.append(json.loads(message["body"]))
            return message

        if scope["type"] == "http":
            named = {name.decode(): value.decode() for name, value in scope["headers"]}
            kept.headers.append({"method": scope["method"], **named})
        await app(scope, received, send)

    return keeping


def small_server(name: str = "small", **options: Any) -> FastMCP:
    """Three tools: words doubled, a slow one, one that fails."""
    mcp = FastMCP(name, stateless_http=True, **options)

    @mcp.tool()
    def double(word: str) -> str:
        """Says a word twice."""
        return f"{word} {word}"

    @mcp.tool()
    def fails() -> str:
        """Fails always."""
        raise ValueError("the drawer is stuck")

    @mcp.tool()
    async def hangs() -> str:
        """Never ends by itself."""
        await asyncio.Event().wait()
        return ""

    return mcp


@contextmanager
def listing(*tools: Any) -> Iterator[HttpServer]:
    """A server that lists these, whatever they are."""
    with http_server() as server:
        server.behave(*handshake(), json_reply(_result(1, {"tools": tools})))
        yield server


def handshake(**headers: str) -> Sequence[Reply]:
    """The answers to `initialize`, with these headers, and to the notice that follows it."""
    about = {
        "protocolVersion": PROTOCOL,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "written by hand", "version": "1"},
    }
    return json_reply(_result(0, about), 200, **headers), Reply(202, b"")


def answer_to(number: int, text: str) -> bytes:
    """What a tool answers to a request, as JSON."""
    content = [{"type": "text", "text": text}]
    result = {"content": content, "structuredContent": {"result": text}}
    return json.dumps(_result(number, result)).encode()


def _result(number: int, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}
