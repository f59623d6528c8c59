"""HTTP+SSE, the transport of 2024-11-05: a stream from the server, posts from the client.

The stream hangs on one process. A post that lands on another is handed over to it, so that
several web processes serve one client.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tools.contracts import Transport
from tools.errors import (
    ConcurrencyExceeded,
    ControlPlaneError,
    ErrorDetails,
    MethodNotAllowed,
    PathNotFound,
)
from tools.execution import identity
from tools.execution.runtime import serving
from tools.mcp_server.bodies import HungUp, replaying, whole_body
from tools.mcp_server.connections import Connections
from tools.mcp_server.gate import peer_of, refuse, trimmed
from tools.mcp_server.messages import parsed
from tools.mcp_server.peer import Peer, current_peer
from tools.mcp_server.transports.conversation import (
    MOST_OPEN,
    Conversation,
    ConversationOver,
)
from tools.mcp_server.transports.duplex import SLOWEST_READER, first_of, serve_connection

logger = logging.getLogger(__name__)

SSE_TOPIC: Final = "sse"
MESSAGES_PATH: Final = "/messages/"
BEAT_SECONDS: Final = 15.0
# How long a post may wait for a session that takes nothing, and a stream for one who reads nothing.
TAKEN_WITHIN: Final = 3.0
FAREWELL_SECONDS: Final = 1.0
_STREAM_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


@dataclass(frozen=True, slots=True)
class Session:
    """One open stream: who it belongs to, where its messages go in, how to end it."""

    peer: Peer
    owner: str
    conversation: Conversation
    end: Callable[[], None]


class SseDoor:
    """The endpoints `/sse` and `/messages/`."""

    def __init__(self, server: Server[Any], connections: Connections) -> None:
        self._server = server
        self._connections = connections
        self._sessions: dict[str, Session] = {}
        self._handing: set[asyncio.Task[None]] = set()

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """GET /sse."""
        scope = trimmed(scope)
        try:
            if scope["method"] != "GET":
                raise MethodNotAllowed(scope["method"], ("GET",))
            peer = await peer_of(scope, Transport.SSE)
            current_peer.set(peer)
            with self._connections.admit(Transport.SSE):
                await self._serve(peer, scope, receive, send)
        except ControlPlaneError as error:
            await refuse(error, scope, receive, send)

    async def post(self, scope: Scope, receive: Receive, send: Send) -> None:
        """POST /messages/?session_id=…"""
        scope = trimmed(scope)
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(scope["method"], ("POST",))
            peer = await peer_of(scope, Transport.SSE)
            body = await whole_body(scope, receive)
            request = Request(scope, replaying(body, receive))
            await self._accept(request.query_params.get("session_id", ""), peer, request)
        except HungUp:
            return
        except ControlPlaneError as error:
            await refuse(error, scope, receive, send)
            return
        await Response("Accepted", status_code=202)(scope, receive, send)

    def close_streams(self) -> None:
        """End the streams once what was asked is answered."""
        for session in list(self._sessions.values()):
            session.end()

    async def handed_over(self, session_id: str, body: str) -> None:
        """A message for one of our streams that was posted to another process."""
        session = self._sessions.get(session_id)
        if session is None:
            return
        # A task of its own: a session that takes nothing must not keep the letters of others.
        handing = asyncio.create_task(_put(session, parsed(body.encode())))
        self._handing.add(handing)
        handing.add_done_callback(self._handed)

    def _handed(self, handing: asyncio.Task[None]) -> None:
        self._handing.discard(handing)
        fault = None if handing.cancelled() else handing.exception()
        if fault is not None:
            logger.warning("A message of another process was not taken: %s", fault)

    async def _accept(self, session_id: str, peer: Peer, request: Request) -> None:
        body = await request.body()
        message = parsed(body)
        owner = _identifier(peer)
        session = self._sessions.get(session_id)
        if session is None:
            await self._hand_over(session_id, owner, body.decode())
            return
        if session.owner != owner:
            raise _no_session()
        # Access tokens are renewed while the stream stays open: the latest counts.
        session = replace(session, peer=session.peer.with_secret_of(peer))
        self._sessions[session_id] = session
        await _put(session, message)

    async def _hand_over(self, session_id: str, owner: str, body: str) -> None:
        relay = serving().relay
        found = await relay.whereabouts(f"sse:{session_id}")
        # A session of somebody else looks like none at all.
        if found is None or found["owner"] != owner:
            raise _no_session()
        if not await relay.send(found["address"], SSE_TOPIC, session_id, body):
            raise _no_session()

    async def _serve(self, peer: Peer, scope: Scope, receive: Receive, send: Send) -> None:
        session_id, relay = secrets.token_hex(16), serving().relay
        owner, ended = _identifier(peer), asyncio.Event()
        root = scope.get("root_path", "").rstrip("/")

        async def feed(conversation: Conversation) -> None:
            self._sessions[session_id] = Session(peer, owner, conversation, ended.set)
            if serving().stopping:
                # It began while this stream was opened, and asks only those it knew.
                ended.set()
            # Where to post is told from here, where a post would be taken.
            await _event(send, "endpoint", f"{root}{MESSAGES_PATH}?session_id={session_id}")
            await first_of(_gone(receive), conversation.settled_after(ended))

        async def write(text: str) -> None:
            await _event(send, "message", text)

        async def beat() -> None:
            while True:
                await asyncio.sleep(BEAT_SECONDS)
                await relay.announce(f"sse:{session_id}", {"owner": owner})
                await send({"type": "http.response.body", "body": b": ping\n\n", "more_body": True})

        await relay.announce(f"sse:{session_id}", {"owner": owner})
        await send({"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS})
        beating = asyncio.create_task(beat())
        try:
            await serve_connection(self._server, feed, write, SLOWEST_READER)
        finally:
            beating.cancel()
            self._sessions.pop(session_id, None)
            await relay.forget(f"sse:{session_id}")
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _put(session: Session, message: SessionMessage) -> None:
    """Hand a message to its session.

    Raises:
        PathNotFound: the session is over.
        ConcurrencyExceeded: it has as many requests open as it may.
    """
    current_peer.set(session.peer)
    try:
        async with asyncio.timeout(TAKEN_WITHIN):
            await session.conversation.put(message)
    except ConversationOver:
        raise _no_session() from None
    except TimeoutError:
        raise ConcurrencyExceeded(
            f"{MOST_OPEN} requests of this session wait for their answers to be read", TAKEN_WITHIN
        ) from None


async def _event(send: Send, name: str, data: str) -> None:
    event = f"event: {name}\ndata: {data}\n\n".encode()
    await send({"type": "http.response.body", "body": event, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _identifier(peer: Peer) -> str:
    return identity.identify(peer.credentials, serving().directory.catalogue).identifier


def _no_session() -> PathNotFound:
    return PathNotFound(
        "There is no such session",
        ErrorDetails(suggestion="Connect to /sse again and use the address it sends"),
    )
