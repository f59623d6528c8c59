"""Streamable HTTP: the SDK serves the messages; a stream of notices is ours.

The 2026-07-28 era knows no sessions. The handshake versions are served without sessions too, so
that any web process serves any request. Without sessions the SDK has no GET stream, by which
those clients learn of changes: this module gives them one, which needs no session either.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, Final

from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from sse_starlette.sse import AppStatus
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from tools.contracts import Transport
from tools.errors import ControlPlaneError
from tools.mcp_server import cancellations, questions
from tools.mcp_server.bodies import HungUp, replaying, whole_body
from tools.mcp_server.changes import Changes, Outbox
from tools.mcp_server.connections import Connections
from tools.mcp_server.gate import headers_in, peer_of, refuse, trimmed
from tools.mcp_server.messages import parsed
from tools.mcp_server.peer import current_peer
from tools.mcp_server.transports.direct import DirectLane
from tools.mcp_server.transports.ordinary import ordinary

PING_SECONDS: Final = 15.0
_SESSION: Final = cancellations.SESSION_HEADER.encode()
_STREAM_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class StreamableDoor:
    """The endpoint `/mcp`."""

    def __init__(
        self,
        manager: StreamableHTTPSessionManager,
        lane: DirectLane,
        changes: Changes,
        connections: Connections,
    ) -> None:
        self._manager = manager
        self._lane = lane
        self._changes = changes
        self._connections = connections
        self._streams: set[Outbox] = set()
        # Answers of the handshake era travel on such streams: at a stop they are still completed.
        AppStatus.enable_automatic_graceful_drain = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = trimmed(scope)
        try:
            current_peer.set(await peer_of(scope, Transport.STREAMABLE_HTTP))
            with self._connections.admit(Transport.STREAMABLE_HTTP, _client(scope)):
                await self._serve(scope, receive, send)
        except HungUp:
            return
        except ControlPlaneError as error:
            await refuse(error, scope, receive, send)

    def close_streams(self) -> None:
        """End the streams of notices; their clients open new ones where they find a server."""
        for outbox in list(self._streams):
            outbox.close()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "GET" and self._manager.stateless and _wants_notices(scope):
            await self._stream_notices(receive, send)
            return
        body = await whole_body(scope, receive)
        if self._manager.stateless and scope["method"] == "POST":
            message = ordinary(scope["headers"], body)
            if message is not None and self._lane.takes(message):
                await self._lane.serve(message, receive, send)
                return
            other = parsed(body).message
            if _handshake(scope):
                session = Headers(scope=scope).get(cancellations.SESSION_HEADER, "")
                await cancellations.note(session, other)
                await questions.note(session, other)
                send = cancellations.labelled(other, send, questions.marked)
                stream = scope[questions.STREAM] = questions.AnswerStream(send)
                send = stream.send
        await self._manager.handle_request(scope, replaying(body, receive), send)

    async def _stream_notices(self, receive: Receive, send: Send) -> None:
        outbox = Outbox()
        unsubscribe = self._changes.subscribe(outbox.put)
        self._streams.add(outbox)
        gone = asyncio.create_task(_until_gone(receive))
        gone.add_done_callback(lambda _: outbox.close())
        beating = asyncio.create_task(_beat(send))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
            await send({"type": "http.response.body", "body": b": open\n\n", "more_body": True})
            async for method, params in outbox.notices():
                event = _event(method, params)
                await send({"type": "http.response.body", "body": event, "more_body": True})
        finally:
            unsubscribe()
            self._streams.discard(outbox)
            for task in (gone, beating):
                task.cancel()
        with contextlib.suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _handshake(scope: Scope) -> bool:
    version = Headers(scope=scope).get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


def _wants_notices(scope: Scope) -> bool:
    _, accepts_events = check_accept_headers(Request(scope))
    return _handshake(scope) and accepts_events


def _client(scope: Scope) -> str:
    """What tells this client from others, if it was given a label."""
    label = headers_in(scope).get(_SESSION, b"").decode("latin-1")
    return label if len(label) <= cancellations.LONGEST_ID else ""


def _event(method: str, params: dict[str, Any] | None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return f"event: message\ndata: {json.dumps(message)}\n\n".encode()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _beat(send: Send) -> None:
    """Keep proxies from closing a quiet stream."""
    while True:
        await asyncio.sleep(PING_SECONDS)
        await send({"type": "http.response.body", "body": b": ping\n\n", "more_body": True})
