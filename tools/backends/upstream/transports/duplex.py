"""Transports with one stream of messages in each direction."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tools.backends.upstream.channel import ChannelFault, Garbage, Listener, Message
from tools.backends.upstream.transports.wire import encode, is_response
from tools.upstreams import Upstream


class DuplexChannel(ABC):
    """Matches responses to requests by their ids; everything else goes to the listener.

    A transport gives what it reads to `_arrived`, and says `_lost` once when nothing more will come.
    """

    process_handle: int | None = None
    error_lines: Sequence[str] = ()

    def __init__(self, upstream: Upstream, listener: Listener) -> None:
        self._upstream = upstream
        self._listener = listener
        self._pending: dict[Any, asyncio.Future[Message]] = {}
        self._broken = "it is not open"

    @property
    def broken(self) -> str:
        """Why nothing more will come of this channel; empty while it works."""
        return self._broken

    async def exchange(self, message: Message, headers: Mapping[str, str]) -> Message:
        """Send a request and wait for the response with its id."""
        self._check()
        request_id = message["id"]
        pending: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = pending
        try:
            await self._write(encode(message))
            return await pending
        finally:
            # A response that comes later finds nobody waiting, and is dropped.
            self._pending.pop(request_id, None)
            if pending.done() and not pending.cancelled():
                pending.exception()

    async def notify(self, message: Message, headers: Mapping[str, str]) -> None:
        """Send a notice or a response."""
        self._check()
        await self._write(encode(message))

    async def listen(self, headers: Mapping[str, str]) -> None:
        """Notices come anyway, and this returns at once."""
        self._check()

    @abstractmethod
    async def open(self) -> None:
        """Connect or start."""

    @abstractmethod
    async def close(self) -> None:
        """Hang up."""

    @abstractmethod
    async def _write(self, raw: bytes) -> None:
        """Send one message; raises ChannelFault."""

    def _check(self) -> None:
        if self._broken:
            raise ChannelFault(self._broken, sent=False)

    def _arrived(self, message: Message) -> None:
        if not is_response(message):
            self._listener(message, None)
            return
        number = message.get("id")
        waiting = self._pending.get(number) if isinstance(number, int) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(message)

    def _lost(self, why: str, kind: type[Garbage] | None = None) -> None:
        """Nothing more will come: tell everybody who waits. Only the first reason counts."""
        if self._broken:
            return
        self._broken = why
        for waiting in self._pending.values():
            if not waiting.done():
                waiting.set_exception(kind(why) if kind else ChannelFault(why, sent=True))
