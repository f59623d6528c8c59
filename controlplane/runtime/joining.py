"""HTTP connections that cost less than uvicorn's own.

The head of an answer and its body leave in one write: uvicorn writes them one after the other, each a
system call of its own and often a packet of its own. And the application can see that all of a body
has come, so that it need not guard against one that never does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tools.mcp_server.bodies import IS_WHOLE

# What is held back is no more than this: beyond it, who writes has to feel a slow reader.
MOST_HELD: Final = 64 << 10


class JoiningTransport:
    """A transport on which what is written in one turn of the event loop leaves together."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._call_soon = asyncio.get_running_loop().call_soon
        self._held: list[bytes] = []
        self._size = 0
        self.is_closing: Callable[[], bool] = transport.is_closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send `data`, at the latest when the loop has its next turn."""
        self._held.append(data)
        self._size += len(data)
        if self._size > MOST_HELD:
            self._flush()
        elif len(self._held) == 1:
            self._call_soon(self._flush)

    def close(self) -> None:
        """Hang up when all is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        held, self._held, self._size = self._held, [], 0
        if held and not self.is_closing():
            self._transport.writelines(held)


class JoiningHttp(HttpToolsProtocol):
    """uvicorn's protocol over such a transport. Bodies that are complete are marked in the scope."""

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, JoiningTransport(transport)))

    @override
    def on_message_complete(self) -> None:
        super().on_message_complete()
        cast(dict[str, Any], self.scope)[IS_WHOLE] = True
