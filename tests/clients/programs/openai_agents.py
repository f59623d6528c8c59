"""The MCP servers of the OpenAI Agents SDK, as an agent would be given them."""

from __future__ import annotations

import time
from typing import Any

from agents.mcp import MCPServerSse, MCPServerStdio, MCPServerStreamableHttp
from shared import FAIL, RESOURCE, TOPIC, WORD, orders, parsed, run


def server(transport: str) -> Any:
    given = orders()
    options = {"client_session_timeout_seconds": 30, "max_list_pages": 10}
    if transport == "streamable_http":
        return MCPServerStreamableHttp({"url": f"{given.url}/mcp"}, **options)
    if transport == "sse":
        return MCPServerSse({"url": f"{given.url}/sse"}, **options)
    launch = {"command": given.command, "args": given.args, "env": given.env}
    return MCPServerStdio(launch, **options)


async def visit(transport: str) -> dict[str, Any]:
    began = time.monotonic()
    async with server(transport) as session:
        tools = await session.list_tools()
        discovered = time.monotonic() - began
        echo = await session.call_tool("echo", WORD)
        builtin = await session.call_tool("server_metrics", {})
        refused = await session.call_tool("echo", FAIL)
        resource = await session.read_resource(RESOURCE)
        prompt = await session.get_prompt("about", TOPIC)
        return {
            "discovery_seconds": discovered,
            "tools": [tool.name for tool in tools],
            "echo": echo.structured_content,
            "echo_text": parsed(echo.content[0].text),
            "builtin": sorted(builtin.structured_content),
            "refused": refused.is_error and refused.structured_content["error"]["code"],
            "resource": resource.contents[0].text,
            "prompt": prompt.messages[0].content.text,
        }


run(visit)
