"""`python -m tests.agent.inside.waiting_server PORT`: the small server, with a tool that only waits, and one
that finds tools."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.types import EmptyResult, PingRequest, ServerResult

from tests.agent.inside.servers import served, small_server
from tests.agent.tool_process import PINGED, WAITING


def tell(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def main(port: int) -> None:
    mcp = small_server()

    @mcp.tool()
    async def waits() -> str:
        """Waits for ever."""
        tell(WAITING)
        await asyncio.Event().wait()
        return ""

    @mcp.tool()
    def tool_search(query: str) -> dict[str, Any]:
        """Finds tools."""
        return {"tools": [{"name": "double"}]}

    async def pinged(request: PingRequest) -> ServerResult:
        tell(PINGED)
        return ServerResult(EmptyResult())

    mcp._mcp_server.request_handlers[PingRequest] = pinged
    with served(mcp, port) as server:
        tell(f"{server.url}\n")
        # Whoever started it ends it.
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
