"""A bare SDK server that answers as the product would: the same list, the same result, no product.

The answers are those the product gave, read from the file in BENCH_ANSWERS.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
import uvloop
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from controlplane.runtime.tuning import tune_interpreter


def build(answers: dict[str, Any]) -> Starlette:
    """The server as its SDK's user would write it, with its one cure for slow calls applied."""
    tools = [types.Tool.model_validate(tool, by_name=False) for tool in answers["tools"]]
    schemas = {tool.name: tool.input_schema for tool in tools}
    structured = answers["call"]

    async def list_tools(
        ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        text = types.TextContent(type="text", text=json.dumps(structured))
        return types.CallToolResult(content=[text], structured_content=structured)

    server: Server[Any] = Server(
        "bare",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,
        cache_hints={"tools/list": CacheHint(5000, "private")},
    )
    manager = StreamableHTTPSessionManager(server, stateless=True)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(
        routes=[Route("/mcp", endpoint=StreamableHTTPASGIApp(manager))], lifespan=lifespan
    )


def main() -> None:
    answers = json.loads(Path(os.environ["BENCH_ANSWERS"]).read_text())
    tune_interpreter()
    config = uvicorn.Config(
        build(answers),
        host="127.0.0.1",
        port=int(os.environ["BENCH_PORT"]),
        log_config=None,
        access_log=False,
        loop="uvloop",
        http="httptools",
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main()
