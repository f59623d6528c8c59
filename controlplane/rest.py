"""DRF views on the event loop: an ASGI request in, the view awaited, its response out.

Django's own ASGI handler starts a thread and a database connection per request, and runs the
middleware of sessions and forms. The REST door needs neither: it is stateless and touches no
database. What those layers would have checked (host, size, disconnects) is checked here.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIRequest
from django.http.response import HttpResponseBase
from starlette.types import Message, Receive, Scope, Send

from controlplane.fallbacks import enveloped
from tools.api.exceptions import body_too_large
from tools.api.request_ids import given_request_id, parse_request_id
from tools.conf import deployment
from tools.errors import ErrorDetails, MalformedRequest, Stopping

# Seconds after which a call counts as long enough to be worth watching its caller.
LOOK_AFTER = 0.05
# Seconds a body may take to arrive.
SLOWEST_BODY = 20

View = Callable[..., Awaitable[HttpResponseBase]]


class ViewEndpoint:
    """Serves one async view at one address."""

    def __init__(self, view: Any) -> None:
        self._view: View = view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._respond(scope, receive)
        except RequestAborted:
            return
        await send_response(response, send)

    async def _respond(self, scope: Scope, receive: Receive) -> HttpResponseBase:
        try:
            body = await read_body(scope, receive, deployment().max_body_bytes)
            request = ASGIRequest(scope, io.BytesIO(body))
            request.get_host()
        except (RequestAborted, asyncio.CancelledError):
            raise
        except Exception as error:  # noqa: BLE001 - translated, or logged as a bug
            return enveloped(error, header_id(scope))
        return await self._until_gone(request, receive)

    async def _until_gone(self, request: ASGIRequest, receive: Receive) -> HttpResponseBase:
        """Await the view; a caller that hangs up cancels it."""
        gone = _HangUp(receive)
        try:
            return await self._view(request)
        except asyncio.CancelledError:
            if gone.noticed:
                raise RequestAborted from None
            # Cut off because the process has to leave: the caller is still there and is told so.
            return enveloped(Stopping(), given_request_id(request))
        except Exception as error:  # noqa: BLE001 - translated, or logged as a bug
            return enveloped(error, given_request_id(request))
        finally:
            gone.forget()


class _HangUp:
    """Cancels the task it was made in when the caller goes away.

    Most answers are sent before it would have begun to look, so it costs them next to nothing.
    """

    def __init__(self, receive: Receive) -> None:
        self.noticed = False
        self._receive = receive
        self._serving = asyncio.current_task()
        self._watching: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(LOOK_AFTER, self._begin)

    def forget(self) -> None:
        self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()

    def _begin(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        message: Message = await self._receive()
        if message["type"] == "http.disconnect" and self._serving is not None:
            self.noticed = True
            self._serving.cancel()


async def read_body(scope: Scope, receive: Receive, limit: int) -> bytes:
    """The whole body; stops as soon as it is known to be too large, or to be too slow.

    Raises:
        BodyTooLarge, MalformedRequest: when it is.
        RequestAborted: when the caller hung up instead.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise body_too_large()
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            return await _gather_body(receive, limit)
    except TimeoutError:
        raise MalformedRequest(
            f"The body did not arrive within {SLOWEST_BODY} s",
            ErrorDetails(suggestion="Send the whole body at once"),
        ) from None


async def _gather_body(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise body_too_large()
        chunks.append(chunk)
        if not message.get("more_body"):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def header_id(scope: Scope) -> uuid.UUID | None:
    """The request id of the header, if it is one; for requests that cannot be built."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            return parse_request_id(value.decode("latin1"))
    return None


async def send_response(response: HttpResponseBase, send: Send) -> None:
    """A finished Django response to the caller; one that has gone meanwhile does not matter."""
    headers = [(name.encode("ascii"), value.encode("latin1")) for name, value in response.items()]
    body = response.content  # type: ignore[attr-defined] # REST views never stream
    headers.append((b"content-length", str(len(body)).encode("ascii")))
    with contextlib.suppress(OSError):
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": headers}
        )
        await send({"type": "http.response.body", "body": body})
    response.close()
