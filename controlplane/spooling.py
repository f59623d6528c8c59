"""Large bodies on their way in: kept on disk, bounded, and given up when nothing comes any more."""

from __future__ import annotations

import asyncio
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIRequest
from starlette.types import Receive, Scope

from tools.api.exceptions import body_too_large
from tools.errors import ErrorDetails, MalformedRequest

# Bodies up to this size stay in memory.
IN_MEMORY: Final = 1 << 20
# Seconds without a byte, and for all of it.
LONGEST_PAUSE: Final = 20
SLOWEST_UPLOAD: Final = 15 * 60
# Bodies of one process that come in at the same time; the others wait to be read.
AT_ONCE: Final = 4


class Spool:
    """Takes bodies in, a few at a time."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def receive(self, scope: Scope, receive: Receive, limit: int, into: IO[bytes]) -> int:
        """Write the whole body into a file and go back to its beginning; its size.

        Raises:
            BodyTooLarge, MalformedRequest: when it is too large or too slow.
            RequestAborted: when the caller hung up instead.
        """
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > limit:
                raise body_too_large(limit)
        async with self._room:
            try:
                async with asyncio.timeout(SLOWEST_UPLOAD):
                    size = await _gather(receive, limit, into)
            except TimeoutError:
                raise MalformedRequest(
                    "The body did not arrive in time",
                    ErrorDetails(suggestion="Send it again over a faster connection"),
                ) from None
        into.seek(0)
        return size


async def _gather(receive: Receive, limit: int, into: IO[bytes]) -> int:
    size = 0
    while True:
        async with asyncio.timeout(LONGEST_PAUSE):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise body_too_large(limit)
        if size > IN_MEMORY:
            await asyncio.to_thread(into.write, chunk)
        else:
            into.write(chunk)
        if not message.get("more_body"):
            return size


def new_file() -> SpooledTemporaryFile[bytes]:
    """A file that is in memory until it grows, and gone when it is closed."""
    return SpooledTemporaryFile(max_size=IN_MEMORY)


class ReceivingRequest(ASGIRequest):
    """A request whose body is taken in when its view asks for it, so that it can refuse before."""

    def __init__(self, scope: Scope, receive: Receive, spool: Spool) -> None:
        self._arriving = scope
        self._receiving = receive
        self._spool = spool
        self._file = new_file()
        super().__init__(dict(scope), self._file)

    async def receive_body(self, limit: int) -> None:
        size = await self._spool.receive(self._arriving, self._receiving, limit, self._file)
        # Readers of forms go by this number; a body sent in chunks comes without one.
        self.META["CONTENT_LENGTH"] = str(size)
