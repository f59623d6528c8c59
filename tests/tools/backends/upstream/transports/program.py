"""A server made with the SDK: `program.py stdio`, or `program.py http`, which prints its port.

Over the network it serves `/mcp` (Streamable HTTP), `/sse` and `/ws`.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

server = MCPServer("calculator", log_level="ERROR")


@server.tool()
async def add(a: int, b: int, context: Context) -> int:
    """Add two numbers, telling of it half-way."""
    await context.report_progress(1, 2, "half-way")
    return a + b


async def talk(websocket: WebSocket) -> None:
    """MCP over one socket."""
    await websocket.accept(subprotocol="mcp")
    heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](10)
    saying, said = anyio.create_memory_object_stream[SessionMessage](10)

    async def read() -> None:
        try:
            async for text in websocket.iter_text():
                message = jsonrpc_message_adapter.validate_json(text, by_name=False)
                await heard.send(SessionMessage(message))
        except WebSocketDisconnect:
            pass
        heard.close()

    async def write() -> None:
        async for one in said:
            await websocket.send_text(
                one.message.model_dump_json(by_alias=True, exclude_unset=True)
            )

    lowlevel = server._lowlevel_server
    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        await lowlevel.run(hearing, saying, lowlevel.create_initialization_options())
        group.cancel_scope.cancel()


def serve() -> None:
    """Serve over the network until ended."""
    streamable = server.streamable_http_app()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    routes = [WebSocketRoute("/ws", talk), *streamable.routes, *server.sse_app().routes]
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201
    app = Starlette(routes=routes, lifespan=lifespan)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        serve()
