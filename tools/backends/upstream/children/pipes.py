"""The ends of a child's streams on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from typing_extensions import override


class LineReader(asyncio.Protocol):
    """Gives out every line that arrives. A line longer than `most_bytes` ends the reading."""

    def __init__(
        self, on_line: Callable[[bytes], None], most_bytes: int, on_long: Callable[[], None]
    ) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._on_line = on_line
        self._on_long = on_long
        self._most_bytes = most_bytes
        self._rest = bytearray()
        self._deaf = False

    @override
    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest = bytearray(rest)
            for line in lines:
                self._on_line(line)
        else:
            self._rest += rest
        if len(self._rest) > self._most_bytes:
            self._deaf = True
            self._rest.clear()
            self._on_long()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._rest and not self._deaf:
            self._on_line(bytes(self._rest))
        if not self.ended.done():
            self.ended.set_result(None)


class Writer(asyncio.BaseProtocol):
    """Writes, no faster than is read at the other end."""

    def __init__(self) -> None:
        self.transport: asyncio.WriteTransport | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()

    @override
    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    @override
    def pause_writing(self) -> None:
        self._flowing.clear()

    @override
    def resume_writing(self) -> None:
        self._flowing.set()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._flowing.set()

    async def write(self, raw: bytes) -> bool:
        """Send `raw` once there is room; False when the other end is gone and nothing was sent."""
        if not self._flowing.is_set():
            await self._flowing.wait()
        if self.transport is None or self.transport.is_closing():
            return False
        self.transport.write(raw)
        return True

    def close(self, *, now: bool = False) -> None:
        """Say that nothing more will come; with `now`, drop also what was not yet taken."""
        if self.transport is not None:
            if now:
                self.transport.abort()
            else:
                self.transport.close()
