"""What an MCP server sends in answer to a request, noted on its way to the SDK's client.

An event stream is read with the parts of the library that the SDK reads it with: where the two differed, one
would wait for what the other does not do.
"""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

import httpx
from httpx._decoders import SUPPORTED_DECODERS
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from typing_extensions import override

# The SDK's own, where a server does not say after how long its stream may be taken up again.
RETRY_MILLISECONDS: Final = 1000
# What came of a packed stream and cannot be unpacked has this many seconds to become so.
PACKED_SECONDS: Final = 3
UNPACKED: Final = "it sent what cannot be unpacked"


@dataclass(frozen=True, slots=True)
class Rest:
    """Where a stream may be taken up again, and after how long."""

    last_id: str
    retry: int = RETRY_MILLISECONDS


class Watched(httpx.AsyncByteStream):
    """What a response holds, on its way to whoever reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.heard: Callable[[], None] = _nothing
        self.closed: Callable[[], None] = _nothing

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_bytes():
                self.heard()
                self._read(piece)
                yield piece
        except Exception as fault:
            self._end(fault)
            raise
        self._end(None)

    @override
    async def aclose(self) -> None:
        self.closed()
        await self._response.aclose()

    def _read(self, piece: bytes) -> None:
        """Note what is in it."""

    def _end(self, fault: Exception | None) -> None:
        """There is no more."""
        raise NotImplementedError


class Events(Watched):
    """A stream of events. Whoever has read an answer closes it, so to have reached its end is to have none."""

    def __init__(
        self,
        response: httpx.Response,
        ended: Callable[[Exception | None, Rest | None], None],
        gone: Callable[[Exception], None],
        rest: Rest | None = None,
    ) -> None:
        """`ended` is told what of it can be taken up again; it may itself be the `rest` of another. `gone` is
        told that it cannot be unpacked."""
        super().__init__(response)
        self._ended = ended
        self._text = getincrementaldecoder("utf-8")(errors="replace")
        self._lines = SSELineDecoder()
        self._events = SSEDecoder()
        self._last_id = rest.last_id if rest else ""
        self._retry = rest.retry if rest else RETRY_MILLISECONDS
        self._packed = _Packed(response, gone)

    @override
    async def aclose(self) -> None:
        self._packed.stop()
        await super().aclose()

    @override
    def _read(self, piece: bytes) -> None:
        self._packed.unpacked()
        self._note(self._lines.decode(self._text.decode(piece)))

    def _note(self, lines: list[str]) -> None:
        for line in lines:
            # What it says is not kept here, too: it may be long.
            event = self._events.decode("data" if line.startswith("data") else line)
            if event is not None:
                self._last_id = event.id or self._last_id
                self._retry = self._retry if event.retry is None else event.retry

    @override
    def _end(self, fault: Exception | None) -> None:
        self._packed.stop()
        if fault is None:
            self._note(self._lines.flush())
        self._ended(fault, Rest(self._last_id, self._retry) if self._last_id else None)


class Body(Watched):
    """A single text in JSON. What cannot be read or unpacked is told by the SDK."""

    def __init__(self, response: httpx.Response, whole: Callable[[], None]) -> None:
        super().__init__(response)
        self._whole = whole

    @override
    def _end(self, fault: Exception | None) -> None:
        if fault is None:
            self._whole()


class _Packed:
    """Notices when what comes of a packed stream yields nothing: not all that is wrong with it is an error."""

    def __init__(self, response: httpx.Response, gone: Callable[[Exception], None]) -> None:
        self._response = response
        self._gone = gone
        self._used = self._stuck = 0
        self._timer: asyncio.TimerHandle | None = None
        packings = _packings(response)
        if not packings <= set(SUPPORTED_DECODERS):
            gone(ConnectionError(UNPACKED))
        elif packings:
            self._wait()

    def unpacked(self) -> None:
        """All that came was of use."""
        self._used = self._response.num_bytes_downloaded
        self._stuck = 0

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(1, self._look)

    def _look(self) -> None:
        self._stuck = self._stuck + 1 if self._response.num_bytes_downloaded > self._used else 0
        if self._stuck < PACKED_SECONDS:
            self._wait()
        else:
            self._gone(ConnectionError(UNPACKED))


def _packings(response: httpx.Response) -> set[str]:
    named = response.headers.get("content-encoding", "").lower().split(",")
    return {one.strip() for one in named} - {"", "identity"}


def _nothing() -> None:
    """Nobody listens."""
