"""WebSocket: one JSON-RPC message per text frame, subprotocol `mcp`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from tools.conf import deployment
from tools.contracts import Transport
from tools.errors import ControlPlaneError, MalformedRequest
from tools.mcp_server.connections import Connections
from tools.mcp_server.gate import peer_of, refuse, trimmed
from tools.mcp_server.messages import parsed, refusal_of
from tools.mcp_server.peer import current_peer
from tools.mcp_server.transports.conversation import Conversation, ConversationOver
from tools.mcp_server.transports.duplex import SLOWEST_READER, first_of, serve_connection

logger = logging.getLogger(__name__)

SUBPROTOCOL: Final = "mcp"
GOING_AWAY: Final = 1001
NO_TEXT: Final = 1003
TOO_LARGE: Final = 1009


class WebSocketDoor:
    """The endpoint `/ws`."""

    def __init__(self, server: Server[Any], connections: Connections) -> None:
        self._server = server
        self._connections = connections
        self._ends: set[asyncio.Event] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = trimmed(scope)
        try:
            current_peer.set(await peer_of(scope, Transport.WEBSOCKET))
            with self._connections.admit(Transport.WEBSOCKET):
                await self._serve(WebSocket(scope, receive, send))
        except ControlPlaneError as error:
            await refuse(error, scope, receive, send)

    def close_streams(self) -> None:
        """End the connections once what was asked is answered; clients may connect anew elsewhere."""
        for end in list(self._ends):
            end.set()

    async def _serve(self, socket: WebSocket) -> None:
        offered = socket.scope.get("subprotocols") or []
        ended = asyncio.Event()
        self._ends.add(ended)

        async def feed(conversation: Conversation) -> None:
            await first_of(_feed(socket, conversation), conversation.settled_after(ended))

        async def write(text: str) -> None:
            # Who is gone is noticed by `_feed`.
            with contextlib.suppress(WebSocketDisconnect):
                if socket.application_state is WebSocketState.CONNECTED:
                    await socket.send_text(text)

        try:
            await socket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in offered else None)
            await serve_connection(self._server, feed, write, SLOWEST_READER)
        except WebSocketDisconnect:
            logger.debug("A client left before it was let in")
        finally:
            self._ends.discard(ended)
            await _close(socket, GOING_AWAY)


async def _feed(socket: WebSocket, conversation: Conversation) -> None:
    """Messages of the client, until it is gone or sends what is too large or no text."""
    with contextlib.suppress(WebSocketDisconnect, ConversationOver):
        while True:
            text = (await socket.receive()).get("text")
            if socket.client_state is not WebSocketState.CONNECTED:
                return
            raw = text.encode() if text is not None else b""
            if text is None or len(raw) > deployment().max_body_bytes:
                await _close(socket, NO_TEXT if text is None else TOO_LARGE)
                return
            try:
                await conversation.put(parsed(raw))
            except MalformedRequest as error:
                await socket.send_json(refusal_of(error))


async def _close(socket: WebSocket, code: int) -> None:
    open_states = {socket.client_state, socket.application_state}
    if open_states == {WebSocketState.CONNECTED}:
        with contextlib.suppress(WebSocketDisconnect):
            await socket.close(code)
