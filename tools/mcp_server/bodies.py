"""Request bodies of the MCP doors: read within limits of size and time, then handed on whole."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.types import Message, Receive, Scope

from tools.conf import deployment
from tools.errors import BodyTooLarge, ErrorDetails, MalformedRequest

SLOWEST_BODY: Final = 20
# What a server that knows says in the scope of a request whose body has come as a whole.
IS_WHOLE: Final = "controlplane.body_is_whole"


class HungUp(Exception):
    """The client went away before its body was complete."""


async def whole_body(scope: Scope, receive: Receive) -> bytes:
    """The body of a request.

    Raises:
        BodyTooLarge, MalformedRequest: it is too large, or too slow.
        HungUp: the client left.
    """
    limit = deployment().max_body_bytes
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
    if scope.get(IS_WHOLE):
        return await _gather(receive, limit)
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await _gather(receive, limit)
    except TimeoutError:
        raise MalformedRequest(
            f"The body did not arrive within {SLOWEST_BODY} s",
            ErrorDetails(suggestion="Send the whole body at once"),
        ) from None


def replaying(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read, then whatever follows."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay


async def _gather(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HungUp
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body is larger than {limit} bytes",
        ErrorDetails(expected=f"at most {limit} bytes", suggestion="Send less at once"),
    )
