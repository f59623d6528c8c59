"""FastMCP's client, which follows pages by itself."""

from __future__ import annotations

import time
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from shared import FAIL, RESOURCE, TOPIC, WORD, orders, parsed, run


def client(transport: str) -> Client:
    given = orders()
    where, _, era = transport.partition(" ")
    targets: dict[str, Any] = {
        "streamable_http": lambda: StreamableHttpTransport(f"{given.url}/mcp"),
        "sse": lambda: SSETransport(f"{given.url}/sse"),
        "stdio": lambda: StdioTransport(
            command=given.command, args=given.args, env=given.env, keep_alive=False
        ),
    }
    return Client(targets[where](), mode="2026-07-28" if era == "modern" else "legacy")


async def visit(transport: str) -> dict[str, Any]:
    began = time.monotonic()
    async with client(transport) as session:
        tools = await session.list_tools()
        discovered = time.monotonic() - began
        echo = await session.call_tool("echo", WORD)
        builtin = await session.call_tool("server_metrics", {})
        refused = await session.call_tool("echo", FAIL, raise_on_error=False)
        resource = await session.read_resource(RESOURCE)
        prompt = await session.get_prompt("about", TOPIC)
        return {
            "protocol": session.protocol_version,
            "discovery_seconds": discovered,
            "tools": [tool.name for tool in tools],
            "echo": echo.structured_content,
            "echo_text": parsed(echo.content[0].text),
            "builtin": sorted(builtin.structured_content),
            "refused": refused.is_error and refused.structured_content["error"]["code"],
            "resource": resource[0].text,
            "prompt": prompt.messages[0].content.text,
        }


run(visit)
