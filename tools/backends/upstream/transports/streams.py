"""The event streams that servers answer requests with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import aiohttp

from tools.backends.upstream.channel import ChannelFault, Message
from tools.backends.upstream.transports.events import EventReader, TooLong
from tools.backends.upstream.transports.wire import MOST_BYTES, TOO_LARGE, decode, pick

# How long a server may take to end a stream on which it has answered, before it is hung up.
_LINGER_SECONDS: Final = 1.0
_LINGER_BYTES: Final = 1 << 20
_MESSAGE_KINDS: Final = ("", "message")


class AnswerStream:
    """Reads the answer to one request off its stream, and off those that continue it."""

    def __init__(self, request_id: Any, tell: Callable[[Message], None]) -> None:
        self.events = EventReader()
        self._request_id = request_id
        self._tell = tell

    async def read(self, answer: aiohttp.ClientResponse) -> Message | None:
        """The answer, or None when the stream ended or broke before it came.

        Raises:
            ChannelFault: what came cannot be the answer.
        """
        found: Message | None = None
        content = answer.content
        try:
            while found is None and (chunk := await content.readany()):
                for event in self.events.feed(chunk):
                    if event.kind in _MESSAGE_KINDS:
                        found = pick(event.data, self._request_id, self._tell) or found
        except TooLong:
            raise ChannelFault(TOO_LARGE, sent=True) from None
        except (aiohttp.ClientError, OSError):
            return None
        return found

    def begin_again(self) -> None:
        """Forget the half of an event that a broken stream ended with; what is known of ids stays."""
        fresh = EventReader()
        fresh.last_id, fresh.retry = self.events.last_id, self.events.retry
        self.events = fresh


async def read_notices(answer: aiohttp.ClientResponse, tell: Callable[[Message], None]) -> None:
    """Tell every message of a stream until it ends.

    Raises:
        ChannelFault: what came is no message.
        aiohttp.ClientError: the stream broke.
    """
    events = EventReader()
    try:
        while chunk := await answer.content.readany():
            for event in events.feed(chunk):
                if event.kind in _MESSAGE_KINDS:
                    for message in decode(event.data):
                        tell(message)
    except TooLong:
        raise ChannelFault(TOO_LARGE, sent=True) from None


async def read_body(answer: aiohttp.ClientResponse) -> bytes:
    """The whole body.

    Raises:
        ChannelFault: it is too large.
    """
    length = answer.content_length
    if length is not None and length <= MOST_BYTES:
        return await answer.read()
    if length is not None:
        raise ChannelFault(TOO_LARGE, sent=True)
    body = bytearray()
    while chunk := await answer.content.readany():
        body += chunk
        if len(body) > MOST_BYTES:
            raise ChannelFault(TOO_LARGE, sent=True)
    return bytes(body)


async def let_end(answer: aiohttp.ClientResponse) -> None:
    """Read what follows an answer, so that its connection can be used again; hang up if it goes on."""
    left = _LINGER_BYTES
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while left > 0 and (chunk := await answer.content.readany()):
                left -= len(chunk)
    except (aiohttp.ClientError, OSError):
        pass
    finally:
        answer.release()
