"""Tools of the control plane from FastMCP's client.

pip install fastmcp
CONTROL_PLANE_KEY=… python fastmcp_client.py
"""

import asyncio
import os

from fastmcp import Client

URL = os.environ.get("CONTROL_PLANE_URL", "http://127.0.0.1:8000/mcp")
KEY = os.environ.get("CONTROL_PLANE_KEY") or None


async def main() -> None:
    async with Client(URL, auth=KEY) as client:
        tools = await client.list_tools()
        print(f"{len(tools)} tools: {', '.join(tool.name for tool in tools[:8])} …")

        result = await client.call_tool("create_todo", {"title": "Try FastMCP", "priority": 3})
        print("Made:", result.structured_content)


asyncio.run(main())
