"""Serving over stdin and stdout, or over Streamable HTTP, until told to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from types import FrameType
from typing import Final

from mcp.server.stdio import stdio_server

from examples.todo_server.server import TodoServer

# Not an option: there are no keys here, so nobody else may reach it.
HOST: Final = "127.0.0.1"
STOP_SECONDS: Final = 3


async def serve_stdio(server: TodoServer) -> None:
    """Until the client hangs up, or SIGTERM or SIGINT."""

    def stop() -> None:
        server.close()
        # A thread waits for the client's next line, and nothing wakes it.
        os._exit(0)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    async with stdio_server() as (read, write):
        await server.protocol.run(read, write, server.protocol.create_initialization_options())


def serve_http(server: TodoServer, port: int) -> None:
    """Until SIGTERM or SIGINT. Port 0 is one that the system chooses; stderr says which."""
    # Loaded here: over stdio nobody needs it.
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((HOST, port))
    listening.listen(512)
    sys.stderr.write(f"Listening on http://{HOST}:{listening.getsockname()[1]}/mcp\n")
    sys.stderr.flush()
    config = uvicorn.Config(
        server.protocol.streamable_http_app(host=HOST),
        log_level="warning",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    web = uvicorn.Server(config)

    def stop(number: int, frame: FrameType | None) -> None:
        web.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        # Before uvicorn has its own handlers, and after: it raises the signal once more at its end,
        # which would end the process before the database is let go.
        signal.signal(number, stop)
    web.run(sockets=[listening])
