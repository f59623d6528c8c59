"""The version 1 SDK: the handshake era only, and the last one with a WebSocket client.

A date after the transport makes it offer that version of the protocol, as older releases did.
"""

from __future__ import annotations

import time
from typing import Any

import mcp.types
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.client.websocket import websocket_client
from pydantic import AnyUrl
from shared import FAIL, RESOURCE, TOPIC, WORD, orders, parsed, run

NEWEST = mcp.types.LATEST_PROTOCOL_VERSION


def streams(transport: str) -> Any:
    given = orders()
    if transport == "streamable_http":
        return streamablehttp_client(f"{given.url}/mcp")
    if transport == "sse":
        return sse_client(f"{given.url}/sse")
    if transport == "websocket":
        return websocket_client(given.websocket)
    return stdio_client(
        StdioServerParameters(command=given.command, args=given.args, env=given.env)
    )


async def visit(transport: str) -> dict[str, Any]:
    transport, _, version = transport.partition(" ")
    mcp.types.LATEST_PROTOCOL_VERSION = version or NEWEST
    began = time.monotonic()
    async with streams(transport) as opened, ClientSession(opened[0], opened[1]) as session:
        initialized = await session.initialize()
        page = await session.list_tools()
        discovered = time.monotonic() - began
        names, pages = [tool.name for tool in page.tools], 1
        while page.nextCursor:
            page = await session.list_tools(cursor=page.nextCursor)
            names, pages = names + [tool.name for tool in page.tools], pages + 1
        echo = await session.call_tool("echo", WORD)
        builtin = await session.call_tool("server_metrics", {})
        refused = await session.call_tool("echo", FAIL)
        resource = await session.read_resource(AnyUrl(RESOURCE))
        prompt = await session.get_prompt("about", TOPIC)
        return {
            "protocol": initialized.protocolVersion,
            "discovery_seconds": discovered,
            "pages": pages,
            "tools": names,
            "echo": echo.structuredContent,
            "echo_text": parsed(echo.content[0].text),
            "builtin": sorted(parsed(builtin.content[0].text)),
            "refused": refused.isError and parsed(refused.content[0].text)["error"]["code"],
            "resource": resource.contents[0].text,
            "prompt": prompt.messages[0].content.text,
        }


run(visit)
