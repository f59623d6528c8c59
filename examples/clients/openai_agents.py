"""An agent of the OpenAI Agents SDK with the tools of the control plane.

    pip install openai-agents
    OPENAI_API_KEY=… CONTROL_PLANE_KEY=… python openai_agents.py "What is on my list?"

`OPENAI_BASE_URL` and `OPENAI_MODEL` choose another model; any OpenAI-compatible API will do.
"""

import asyncio
import os
import sys

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

URL = os.environ.get("CONTROL_PLANE_URL", "http://127.0.0.1:8000/mcp")
KEY = os.environ.get("CONTROL_PLANE_KEY", "")
HEADERS = {"Authorization": f"Bearer {KEY}"} if KEY else {}
QUESTION = " ".join(sys.argv[1:]) or "What is on my list?"

# Other providers speak chat completions; traces go to OpenAI unless they are switched off.
set_default_openai_api("chat_completions")
set_tracing_disabled(True)


async def main() -> None:
    async with MCPServerStreamableHttp(
        name="control-plane",
        params={"url": URL, "headers": HEADERS},
        client_session_timeout_seconds=60,
        cache_tools_list=True,
    ) as server:
        agent = Agent(
            name="Assistant",
            instructions="Use the tools to answer. Say what you did.",
            model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
            mcp_servers=[server],
        )
        result = await Runner.run(agent, QUESTION)
        for item in result.new_items:
            if item.type == "tool_call_item":
                print(f"Called {item.raw_item.name}({item.raw_item.arguments})")
        print(result.final_output)


asyncio.run(main())
