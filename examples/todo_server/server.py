"""The MCP server over the todo list."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from examples.todo_server.store import Store
from examples.todo_server.tools import TOOLS, VERSION, NoSuchTodo
from examples.todo_server.values import Invalid, Unavailable

logger = logging.getLogger("todo_server")
Context = ServerRequestContext[Any, Any]
_LISTED = [types.Tool.model_validate(tool.to_wire()) for tool in TOOLS.values()]


class TodoServer:
    """Runs tools in threads of its own, as many at once as the database likes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(store.workers, thread_name_prefix="todo")
        self.protocol: Server[Any] = Server(
            "todo-server",
            version=VERSION,
            title="Todo list",
            instructions="A todo list. Look a todo's id up before you change or delete it.",
            get_tool_input_schema=_input_schema,
            on_list_tools=_list_tools,
            on_call_tool=self._call_tool,
        )

    def close(self) -> None:
        """Finish what has begun and let go of the database."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._store.close()

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        loop = asyncio.get_running_loop()
        try:
            given = await loop.run_in_executor(
                self._threads, tool.call, self._store, params.arguments or {}
            )
        except (Invalid, NoSuchTodo) as fault:
            return _refusal(str(fault))
        except Unavailable as fault:
            logger.error("%s: the database does not answer: %s", tool.name, fault)
            return _refusal("The todo database does not answer. Please try again later.")
        return types.CallToolResult(content=[_text(given)], structured_content=given)


async def _list_tools(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return types.ListToolsResult(tools=_LISTED)


def _input_schema(name: str) -> Mapping[str, Any] | None:
    tool = TOOLS.get(name)
    return None if tool is None else tool.takes


def _refusal(message: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=message)], is_error=True
    )


def _text(given: Mapping[str, Any]) -> types.TextContent:
    """The result once more, for clients that read no structured content."""
    return types.TextContent(type="text", text=json.dumps(given, ensure_ascii=False))
