"""The version 2 SDK, of which the product uses the other half. It has no WebSocket client; the
one here is the least that the custom transport needs.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.shared.message import SessionMessage
from shared import FAIL, RESOURCE, TOPIC, WORD, orders, parsed, run
from websockets.asyncio.client import connect


@asynccontextmanager
async def websocket_client(url: str) -> AsyncIterator[Any]:
    """Messages to and from a WebSocket as the two streams that a client takes."""
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with connect(url, subprotocols=["mcp"]) as socket, anyio.create_task_group() as group:

        async def receive() -> None:
            async with incoming:
                async for raw in socket:
                    message = types.jsonrpc_message_adapter.validate_json(raw, by_name=False)
                    await incoming.send(SessionMessage(message))

        async def send() -> None:
            async with outgoing:
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await socket.send(text)

        group.start_soon(receive)
        group.start_soon(send)
        yield read_stream, write_stream
        group.cancel_scope.cancel()


def client(transport: str) -> Client:
    given = orders()
    where, _, era = transport.partition(" ")
    targets: dict[str, Any] = {
        "streamable_http": lambda: f"{given.url}/mcp",
        "sse": lambda: sse_client(f"{given.url}/sse"),
        "websocket": lambda: websocket_client(given.websocket),
        "stdio": lambda: StdioServerParameters(
            command=given.command, args=given.args, env=given.env
        ),
    }
    return Client(targets[where](), mode="2026-07-28" if era == "modern" else "legacy")


async def visit(transport: str) -> dict[str, Any]:
    began = time.monotonic()
    async with client(transport) as session:
        page = await session.list_tools()
        discovered = time.monotonic() - began
        names, pages = [tool.name for tool in page.tools], 1
        while page.next_cursor:
            page = await session.list_tools(cursor=page.next_cursor)
            names, pages = names + [tool.name for tool in page.tools], pages + 1
        echo = await session.call_tool("echo", WORD)
        builtin = await session.call_tool("server_metrics", {})
        refused = await session.call_tool("echo", FAIL)
        resource = await session.read_resource(RESOURCE)
        prompt = await session.get_prompt("about", TOPIC)
        return {
            "protocol": session.protocol_version,
            "discovery_seconds": discovered,
            "pages": pages,
            "tools": names,
            "echo": echo.structured_content,
            "echo_text": parsed(echo.content[0].text),
            "builtin": sorted(builtin.structured_content),
            "refused": refused.is_error and refused.structured_content["error"]["code"],
            "resource": resource.contents[0].text,
            "prompt": prompt.messages[0].content.text,
        }


run(visit)
