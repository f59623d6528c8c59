"""The chat over HTTP: `python -m agent.serve`. Events are streamed as server-sent events.

What the agent needs may be down; the answer is 200 all the same, and says so in words.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import uvicorn
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.as_json import written
from agent.chat_agent import ChatAgent
from agent.logs import set_up_logs
from agent.messages import LARGEST_BODY, BadRequest, ChatRequest, read_request
from agent.settings import BadSetting, described

HOST: Final = "127.0.0.1"
PORT: Final = 8100


def application(agent: ChatAgent) -> Starlette:
    """The surface over one agent."""
    surface = _Surface(agent)
    return Starlette(
        routes=[
            Route("/chat/stream", surface.chat, methods=["POST"]),
            Route("/health", surface.health, methods=["GET"]),
        ],
        # A page elsewhere that had its name point here would come with that name.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
    )


class _Surface:
    def __init__(self, agent: ChatAgent) -> None:
        self._agent = agent
        self._threads: dict[str, tuple[asyncio.Lock, int]] = {}

    async def chat(self, request: Request) -> Response:
        try:
            body = await _body(request)
            asked = read_request(request.headers.get("content-type", ""), body)
        except BadRequest as fault:
            return JSONResponse({"error": str(fault), "status": "error"}, 400)
        return EventSourceResponse(self._events(asked))

    async def _events(self, asked: ChatRequest) -> AsyncIterator[ServerSentEvent]:
        async with self._one_at_a_time(asked.thread_id):
            async for event in self._agent.stream(
                asked.message, thread_id=asked.thread_id, request_id=asked.request_id
            ):
                yield ServerSentEvent(data=written(event.data()), event=event.kind)

    @asynccontextmanager
    async def _one_at_a_time(self, thread_id: str) -> AsyncIterator[None]:
        """Messages of one conversation are answered in their order."""
        if not thread_id:
            yield
            return
        lock, users = self._threads.get(thread_id, (asyncio.Lock(), 0))
        self._threads[thread_id] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            _, users = self._threads.pop(thread_id)
            if users > 1:
                self._threads[thread_id] = (lock, users - 1)

    async def health(self, request: Request) -> Response:
        agent = self._agent
        well = not agent.tools_lost() and agent.breaker.state.value == "CLOSED"
        return JSONResponse(
            {
                "status": "healthy" if well else "degraded",
                "agent": agent.state.value,
                "mcp": agent.mcp_state.value,
                "tools": len(agent.tools),
                "model": agent.settings.model,
                "circuit_breakers": {
                    "model": {
                        "state": agent.breaker.state.value,
                        "failure_count": agent.breaker.failures,
                    }
                },
            }
        )


async def _body(request: Request) -> bytes:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise BadRequest(f"The body has more than {LARGEST_BODY} bytes.")
    return body


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m agent.serve",
        description=__doc__,
        epilog=described(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=PORT, help="0 lets the system choose")
    options = parser.parse_args(arguments)
    set_up_logs()
    try:
        agent = ChatAgent()
    except BadSetting as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, options.port))
    except OSError as fault:
        sys.stderr.write(f"Cannot listen on {HOST}:{options.port}: {fault}\n")
        return 1
    # Whoever reads the address may connect at once; the server takes it from there.
    listener.listen()
    port = listener.getsockname()[1]
    sys.stderr.write(f"{agent.state.value}; the chat is at http://{HOST}:{port}/chat/stream\n")
    sys.stderr.flush()
    config: Any = uvicorn.Config(application(agent), log_config=None, timeout_graceful_shutdown=3)
    uvicorn.Server(config).run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
