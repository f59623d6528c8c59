"""Messages and requests of both eras as bytes, and a connection that ends without a goodbye."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

VERSION: Final = {"legacy": HANDSHAKE_PROTOCOL_VERSIONS[-1], "auto": "2026-07-28"}
LISTEN: Final = "subscriptions/listen"
# A hard end: the kernel sends a reset.
RESET: Final = struct.pack("ii", 1, 0)


def call_of(mode: str, arguments: Mapping[str, Any], number: int = 1) -> dict[str, Any]:
    """A call of the tool `echo`."""
    return message_of("tools/call", mode, {"name": "echo", "arguments": arguments}, number)


def opening_of(mode: str) -> list[dict[str, Any]]:
    """What a client of that era says first."""
    if mode == "auto":
        return []
    about = {
        "protocolVersion": VERSION["legacy"],
        "capabilities": {},
        "clientInfo": {"name": "load", "version": "1"},
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    return [message_of("initialize", mode, about, 0), ready]


def message_of(
    method: str, mode: str, params: Mapping[str, Any], number: int = 1
) -> dict[str, Any]:
    """A request as a client of that era sends it."""
    filled = dict(params)
    if mode == "auto":
        filled["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": VERSION["auto"],
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": filled}


def listen_to_tools() -> dict[str, Any]:
    """A subscription to changes of the list of tools."""
    return message_of(LISTEN, "auto", {"notifications": {"toolsListChanged": True}})


def http_request(url: str, verb: str, path: str, mode: str, message: Any = None) -> bytes:
    """A whole HTTP request."""
    body = b"" if message is None else json.dumps(message).encode()
    method = message["method"] if message else "x"
    headers = {
        "Host": urlsplit(url).netloc,
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": len(body),
        "MCP-Protocol-Version": VERSION[mode],
        "Mcp-Method": method,
        **({"Mcp-Name": "echo"} if method == "tools/call" else {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{verb} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


class Connection:
    """A TCP connection that is reset, not closed, when it is left."""

    def __init__(self, url: str, receive_buffer: int = 0) -> None:
        parts = urlsplit(url)
        self._address = (str(parts.hostname), parts.port)
        self._socket = socket.socket()
        self._socket.setblocking(False)
        if receive_buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._read = b""

    async def __aenter__(self) -> Connection:
        await asyncio.get_running_loop().sock_connect(self._socket, self._address)
        return self

    async def __aexit__(self, *fault: object) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._socket.close()

    async def send(self, raw: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._socket, raw)

    async def line_with(self, start: str) -> str:
        """The next line that begins so."""
        loop = asyncio.get_running_loop()
        while True:
            line, found, rest = self._read.partition(b"\n")
            if not found:
                more = await asyncio.wait_for(loop.sock_recv(self._socket, 1024), 10)
                if not more:
                    raise ConnectionError
                self._read += more
                continue
            self._read = rest
            if line.startswith(start.encode()):
                return line.decode().strip()
