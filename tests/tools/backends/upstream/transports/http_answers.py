"""Servers over HTTP for one answer, and what comes of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from tests.tools.backends.upstream.raw_http import (
    Answer,
    Asked,
    reply,
    result,
    serving,
)
from tests.tools.backends.upstream.transports.talk import ask, asked, at, opened

Pieces = AsyncGenerator[bytes, None]
NOTICE = {"jsonrpc": "2.0", "method": "notifications/told"}
MEGABYTE = b"x" * (1 << 20)


def fine(request: Asked) -> bytes:
    return reply(result(request, ok=True)) if "id" in request.message else reply(b"", 202)


async def answered(answer: Answer, **changes: Any) -> Any:
    """What comes of one request to a server that answers like this."""
    async with serving(answer) as server, opened(at(server.url, **changes)) as channel:
        return await asked(channel, ask(1))
