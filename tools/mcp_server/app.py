"""The MCP doors of a process: their routes, and what runs while they are open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import ListenHandler
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tools.conf import deployment
from tools.errors import Starting, Stopping
from tools.execution.ending import end
from tools.execution.runtime import Runtime
from tools.mcp_server import cancellations, questions
from tools.mcp_server.changes import Changes
from tools.mcp_server.connections import Connections
from tools.mcp_server.gate import refuse
from tools.mcp_server.peer import Peer
from tools.mcp_server.server import MOST_LISTENERS, CatalogueServer, build_server
from tools.mcp_server.transports.direct import DirectLane
from tools.mcp_server.transports.sse import MESSAGES_PATH, SSE_TOPIC, SseDoor
from tools.mcp_server.transports.stdio import StdioDoor, Wire
from tools.mcp_server.transports.streamable import StreamableDoor
from tools.mcp_server.transports.websocket import WebSocketDoor

STREAMABLE: Final = "/mcp"
SSE: Final = "/sse"
WEBSOCKET: Final = "/ws"


class Endpoint:
    """One address. Its door opens and closes with the application."""

    def __init__(self, doors: McpDoors, path: str) -> None:
        self._doors = doors
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        serve = self._doors.serving.get(self._path)
        if serve is None:
            await refuse(Starting(), scope, receive, send)
            return
        if self._doors.toolset:
            scope["path_params"] = {"toolset": self._doors.toolset}
        begun = scope["type"] == "websocket"

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await serve(scope, receive, sending)
        except asyncio.CancelledError:
            # Cut off because the process has to leave. Who has no answer yet is told so.
            if not begun:
                await refuse(Stopping(), scope, receive, send)


class McpDoors:
    """Streamable HTTP, SSE and WebSocket, for every toolset, over one MCP server.

    `prepare` may add to the server before it serves. With `stateless` off, handshake-era clients
    of Streamable HTTP get sessions, which live in this process alone: only for a single process
    whose tools must ask their clients back. With `toolset`, that one is all there is.
    """

    def __init__(
        self,
        *,
        stateless: bool = True,
        prepare: Callable[[CatalogueServer], None] | None = None,
        max_connections: int | None = None,
        toolset: str = "",
    ) -> None:
        self._stateless = stateless
        self._prepare = prepare
        self._max_connections = max_connections
        self.toolset = toolset
        self._stdio: StdioDoor | None = None
        self.serving: Mapping[str, ASGIApp] = {}
        self._close: Callable[[], None] | None = None
        self._changes = Changes()

    @property
    def listeners(self) -> int:
        """How many clients hear of changes from this process."""
        return len(self._changes)

    def endpoint(self, path: str) -> Endpoint:
        """The door at `path`, for who has found the way there by itself."""
        return Endpoint(self, path)

    def routes(self, *paths: str) -> list[BaseRoute]:
        """Where the doors are, all of them unless some are named; each also once per toolset."""
        wanted = paths or (STREAMABLE, SSE, WEBSOCKET)
        made: list[BaseRoute] = []
        for path in wanted:
            kind = WebSocketRoute if path == WEBSOCKET else Route
            endpoint = Endpoint(self, path)
            made.append(kind(path, endpoint))
            if not self.toolset:
                made.append(kind(path + "/{toolset}", endpoint))
        if SSE in wanted:
            made.append(Route(MESSAGES_PATH, Endpoint(self, MESSAGES_PATH)))
        return made

    @asynccontextmanager
    async def run(self, runtime: Runtime) -> AsyncIterator[None]:
        """Keep the doors open."""
        changes = self._changes = Changes()
        listen = ListenHandler(changes, max_subscriptions=MOST_LISTENERS)
        server = build_server(changes, listen)
        if self._prepare is not None:
            self._prepare(server)
        connections = Connections(
            lambda: self._max_connections or runtime.settings.mcp_max_connections
        )
        manager = StreamableHTTPSessionManager(
            server, stateless=self._stateless, max_request_body_size=deployment().max_body_bytes
        )
        streamable = StreamableDoor(manager, DirectLane(server), changes, connections)
        sse, websocket = SseDoor(server, connections), WebSocketDoor(server, connections)
        stdio = StdioDoor(server, connections)
        runtime.changed.append(changes.catalogue_changed)
        runtime.connections = lambda: (connections.current, connections.peak)
        runtime.relay.handlers = {
            SSE_TOPIC: sse.handed_over,
            cancellations.TOPIC: cancellations.heard,
            questions.TOPIC: questions.heard,
        }
        relaying = asyncio.create_task(runtime.relay.run())

        def close() -> None:
            listen.close()
            streamable.close_streams()
            sse.close_streams()
            websocket.close_streams()
            stdio.close()

        try:
            async with manager.run():
                self.serving = {
                    STREAMABLE: streamable,
                    SSE: sse.stream,
                    MESSAGES_PATH: sse.post,
                    WEBSOCKET: websocket,
                }
                self._stdio, self._close = stdio, close
                yield
                close()
        finally:
            self.serving, self._stdio, self._close = {}, None, None
            runtime.changed.remove(changes.catalogue_changed)
            await end(relaying)

    async def serve_stdio(self, peer: Peer, wire: Wire) -> None:
        """Serve the client at the standard streams until it or the doors close."""
        if self._stdio is None:
            raise Starting
        await self._stdio.serve(peer, wire)

    def close_streams(self) -> None:
        """End what would stay open for ever, so that the process can stop."""
        if self._close is not None:
            self._close()
