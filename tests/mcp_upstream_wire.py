"""HTTP/1.1 by hand: one connection of an asyncio server, whole requests in, bytes out."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

from typing_extensions import override

STATUS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n"
)
STREAM_END = b"0\r\n\r\n"


def header(head: bytes, name: bytes) -> bytes:
    """The value of a header, its name given in lower case; empty when it is not there."""
    at = head.lower().find(b"\r\n" + name + b":")
    if at < 0:
        return b""
    start = at + len(name) + 3
    end = head.find(b"\r\n", start)
    return head[start : end if end >= 0 else None].strip()


def response(body: bytes, status: int = 200, extra: bytes = b"") -> bytes:
    """A whole answer; `extra` are further header lines."""
    return b"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s" % (
        status,
        STATUS.get(status, "Other").encode(),
        extra,
        len(body),
        body,
    )


def event(message: Any) -> bytes:
    """A message as one piece of an event stream."""
    data = b"event: message\r\ndata: " + json.dumps(message).encode() + b"\r\n\r\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


class HttpConnection(asyncio.Protocol):
    """One kept-alive connection. `received` gets each request once all of it is there."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._buffer = b""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    @override
    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end]
            length = int(header(head, b"content-length") or 0)
            whole = end + 4 + length
            if len(self._buffer) < whole:
                return
            body = self._buffer[end + 4 : whole]
            self._buffer = self._buffer[whole:]
            self.received(head, body)

    def received(self, head: bytes, body: bytes) -> None:
        """Answer a request by writing to the transport, now or later."""
        raise NotImplementedError
