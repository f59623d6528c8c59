"""Tools of the control plane as LangChain tools.

pip install langchain-mcp-adapters
CONTROL_PLANE_KEY=… python langchain_tools.py
"""

import asyncio
import os

from langchain_mcp_adapters.client import MultiServerMCPClient

URL = os.environ.get("CONTROL_PLANE_URL", "http://127.0.0.1:8000/mcp")
KEY = os.environ.get("CONTROL_PLANE_KEY", "")
HEADERS = {"Authorization": f"Bearer {KEY}"} if KEY else {}


async def main() -> None:
    client = MultiServerMCPClient(
        {"control-plane": {"transport": "streamable_http", "url": URL, "headers": HEADERS}}
    )
    tools = {tool.name: tool for tool in await client.get_tools()}
    print(f"{len(tools)} tools: {', '.join(sorted(tools)[:8])} …")

    made = await tools["create_todo"].ainvoke({"title": "Try LangChain", "priority": 3})
    print("Made:", made[0]["text"])


asyncio.run(main())
