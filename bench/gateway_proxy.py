"""A bare pass-through proxy: Starlette in front, aiohttp behind, nothing in between.

    python -m bench.gateway_proxy PORT UPSTREAM_PORT

It knows no callers, validates nothing and keeps no log: what any gateway of this kind costs at least.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from controlplane.runtime.tuning import tune_interpreter

# What the proxy passes on in each direction; other headers belong to a connection.
PASSED: Final = (
    *("accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"),
    "mcp-session-id",
)
RETURNED: Final = ("content-type", "mcp-session-id")


def build(upstream: str) -> Starlette:
    """The proxy in front of the server at `upstream`."""
    sessions: list[aiohttp.ClientSession] = []

    async def passed_on(request: Request) -> Response:
        headers = {name: request.headers[name] for name in PASSED if name in request.headers}
        body = await request.body()
        async with sessions[0].request(
            request.method, upstream, data=body, headers=headers
        ) as answer:
            content = await answer.read()
            back = {name: answer.headers[name] for name in RETURNED if name in answer.headers}
        return Response(content, answer.status, back)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
            sessions.append(session)
            yield

    return Starlette(routes=[Route("/mcp", passed_on, methods=["POST"])], lifespan=lifespan)


def main() -> None:
    port, upstream_port = map(int, sys.argv[1:])
    application = build(f"http://127.0.0.1:{upstream_port}/mcp")
    tune_interpreter()
    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=port,
        log_config=None,
        access_log=False,
        loop="uvloop",
        http="httptools",
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main()
