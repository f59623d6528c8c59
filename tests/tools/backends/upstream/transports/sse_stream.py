"""A server of HTTP with SSE whose stream a test writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from tests.tools.backends.upstream.raw_http import (
    Asked,
    RawServer,
    event,
    reply,
    result,
    stream_head,
)
from tests.tools.backends.upstream.transports.talk import at
from tools.upstreams import Upstream, UpstreamTransport

Pieces = AsyncGenerator[bytes, None]
ENDPOINT = b"event: endpoint\ndata: /messages?session=1\n\n"


class Stream:
    """A server whose stream the test writes to."""

    def __init__(self, endpoint: bytes = ENDPOINT, posted: Callable[[Asked], bytes] | None = None):
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.posted = posted or self._answer
        self.pieces.put_nowait(endpoint)

    def __call__(self, request: Asked) -> bytes | Pieces:
        return self._stream() if request.method == "GET" else self.posted(request)

    def say(self, raw: bytes | None) -> None:
        """Send on the stream; None ends it."""
        self.pieces.put_nowait(raw)

    async def _stream(self) -> Pieces:
        yield stream_head()
        while (piece := await self.pieces.get()) is not None:
            yield piece

    def _answer(self, request: Asked) -> bytes:
        self.say(event(result(request, ok=True), "event: message"))
        return reply(b"Accepted", 202, "text/plain")


def reached(server: RawServer, **changes: Any) -> Upstream:
    url = f"http://127.0.0.1:{server.port}/sse"
    return at(url, transport=UpstreamTransport.SSE, **{"connect_timeout": 5, **changes})
