"""What the doors with a connection of their own (SSE, WebSocket) share: messages in, messages out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage

from tools.mcp_server.messages import encoded
from tools.mcp_server.transports.conversation import MOST_OPEN, Conversation

logger = logging.getLogger(__name__)

# Seconds a client may take to read one message; answers for one that does not are not kept longer.
SLOWEST_READER: Final = 30.0


async def first_of(*waits: Coroutine[Any, Any, Any]) -> None:
    """Return as soon as one is done, or raise what it raised; the others are cancelled."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()


async def serve_connection(
    server: Server[Any],
    feed: Callable[[Conversation], Awaitable[None]],
    write: Callable[[str], Awaitable[None]],
    patience: float | None,
    most_open: float = MOST_OPEN,
) -> None:
    """Serve one client until either side ends.

    `feed` puts the client's messages into the conversation and returns when the client is gone, or
    is to go; `write` sends one message to it. Who does not read one within `patience` is let go. With
    `most_open` requests unanswered the next one waits.
    """
    incoming, read_stream = create_context_streams[SessionMessage | Exception](0)
    write_stream, outgoing = create_context_streams[SessionMessage](0)
    conversation = Conversation(incoming, most_open)

    async def feeding() -> None:
        async with incoming:
            await feed(conversation)
        # Nobody is left to answer: calls under way are cancelled with the connection.
        group.cancel_scope.cancel()

    async def writing() -> None:
        async with outgoing:
            async for message in outgoing:
                with anyio.move_on_after(patience) as reading:
                    await write(encoded(message))
                if reading.cancelled_caught:
                    logger.info("A client that reads nothing is let go")
                    group.cancel_scope.cancel()
                conversation.answered(message.message)

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(feeding)
            group.start_soon(writing)
            await serve_dual_era_loop(server, read_stream, write_stream, lifespan_state={})
            group.cancel_scope.cancel()
    finally:
        conversation.end()
