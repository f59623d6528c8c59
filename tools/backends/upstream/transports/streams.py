"""The event streams that servers answer requests with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import aiohttp
from yarl import URL

from tools.backends.upstream.channel import Message, TooLarge
from tools.backends.upstream.transports.events import EventReader, TooLong
from tools.backends.upstream.transports.http1 import BadHttp
from tools.backends.upstream.transports.wire import MOST_BYTES, TOO_LARGE, decode, pick

# How long a server may take to end a stream on which it has answered, before it is hung up.
_LINGER_SECONDS: Final = 1.0
_LINGER_BYTES: Final = 1 << 20
_MESSAGE_KINDS: Final = ("", "message")


class Content(Protocol):
    """A body that is read as it comes."""

    async def readany(self) -> bytes:
        """What has come since; waits for more. Empty at the end."""

    def at_eof(self) -> bool:
        """Whether all of it was read."""


class Reply(Protocol):
    """What is looked at of an answer, whoever got it. Names of headers are in lower case."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def url(self) -> URL: ...
    @property
    def content(self) -> Content: ...
    @property
    def content_length(self) -> int | None: ...
    async def read(self) -> bytes: ...
    def release(self) -> Any: ...
    def close(self) -> None: ...


class AnswerStream:
    """Reads the answer to one request off its stream, and off those that continue it."""

    def __init__(self, request_id: Any, tell: Callable[[Message], None]) -> None:
        self.events = EventReader()
        self._request_id = request_id
        self._tell = tell

    async def read(self, answer: Reply) -> Message | None:
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
            raise TooLarge(TOO_LARGE) from None
        except (aiohttp.ClientError, OSError):
            return None
        return found

    def begin_again(self) -> None:
        """Forget the half of an event that a broken stream ended with; what is known of ids stays."""
        fresh = EventReader()
        fresh.last_id, fresh.retry = self.events.last_id, self.events.retry
        self.events = fresh


async def read_notices(answer: Reply, tell: Callable[[Message], None]) -> None:
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
        raise TooLarge(TOO_LARGE) from None


async def read_body(answer: Reply) -> bytes:
    """The whole body.

    Raises:
        ChannelFault: it is too large.
    """
    length = answer.content_length
    if length is not None and length <= MOST_BYTES:
        return await answer.read()
    if length is not None:
        raise TooLarge(TOO_LARGE)
    body = bytearray()
    while chunk := await answer.content.readany():
        body += chunk
        if len(body) > MOST_BYTES:
            raise TooLarge(TOO_LARGE)
    return bytes(body)


async def let_end(answer: Reply) -> None:
    """Read what follows an answer, so that its connection can be used again; hang up if it goes on."""
    left = _LINGER_BYTES
    try:
        async with asyncio.timeout(_LINGER_SECONDS):
            while left > 0 and (chunk := await answer.content.readany()):
                left -= len(chunk)
    except (aiohttp.ClientError, BadHttp, OSError):
        pass
    finally:
        answer.release()
