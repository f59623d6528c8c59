"""A LangGraph agent that answers with tools of the control plane.

    pip install langgraph langchain-openai langchain-mcp-adapters
    OPENAI_API_KEY=… CONTROL_PLANE_KEY=… python langgraph_agent.py "What is on my list?"

`OPENAI_BASE_URL` and `OPENAI_MODEL` choose another model; any OpenAI-compatible API will do.
"""

import asyncio
import os
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

URL = os.environ.get("CONTROL_PLANE_URL", "http://127.0.0.1:8000/mcp")
KEY = os.environ.get("CONTROL_PLANE_KEY", "")
HEADERS = {"Authorization": f"Bearer {KEY}"} if KEY else {}
QUESTION = " ".join(sys.argv[1:]) or "What is on my list?"


async def main() -> None:
    client = MultiServerMCPClient(
        {"control-plane": {"transport": "streamable_http", "url": URL, "headers": HEADERS}}
    )
    tools = await client.get_tools()
    model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini")).bind_tools(tools)

    async def think(state: MessagesState) -> dict:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")

    state = await graph.compile().ainvoke({"messages": [("user", QUESTION)]})
    for message in state["messages"]:
        message.pretty_print()


asyncio.run(main())
