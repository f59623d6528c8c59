"""MCP tools as LangChain tools: what a LangChain agent gets to see and to call."""

from __future__ import annotations

import time
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from shared import FAIL, RESOURCE, TOPIC, WORD, orders, parsed, run


def connection(transport: str) -> dict[str, Any]:
    given = orders()
    addresses = {
        "streamable_http": f"{given.url}/mcp",
        "sse": f"{given.url}/sse",
        "websocket": given.websocket,
    }
    if transport in addresses:
        return {"transport": transport, "url": addresses[transport]}
    return {
        "transport": "stdio",
        "command": given.command,
        "args": given.args,
        "env": given.env,
    }


async def visit(transport: str) -> dict[str, Any]:
    client = MultiServerMCPClient({"plane": connection(transport)})
    began = time.monotonic()
    tools = {tool.name: tool for tool in await client.get_tools()}
    discovered = time.monotonic() - began

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        order = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
        return await tools[name].ainvoke(order)

    def text(message: Any) -> Any:
        content = message.content
        return parsed(content if isinstance(content, str) else content[0]["text"])

    echo = await call("echo", WORD)
    builtin = await call("server_metrics", {})
    refused = await call("echo", FAIL)
    resources = await client.get_resources("plane", uris=[RESOURCE])
    prompt = await client.get_prompt("plane", "about", arguments=TOPIC)
    return {
        "discovery_seconds": discovered,
        "tools": list(tools),
        "echo": echo.artifact["structured_content"],
        "echo_text": text(echo),
        "builtin": sorted(text(builtin)),
        "refused": refused.status == "error" and text(refused)["error"]["code"],
        "resource": resources[0].as_string(),
        "prompt": prompt[0].content,
    }


run(visit)
