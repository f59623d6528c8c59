"""The MCP server: a session for each piece of work, bounded in time, and none in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession

from agent.faults import answered, told

NAME: Final = "mcp_server"
TRANSPORT: Final = "streamable_http"
CONNECT_SECONDS: Final = 5.0
# The longest that a tool of the control plane may take is 60 s.
CALL_SECONDS: Final = 65.0
# How long the end of a session may take once its work is done.
FAREWELL_SECONDS: Final = 1.0
T = TypeVar("T")
Work = Callable[[ClientSession], Awaitable[T]]


class NoGreeting(TimeoutError):
    """It did not even open a session in time."""


@dataclass(frozen=True, slots=True)
class ToolServer:
    """Where the server is, and what it is told with every request."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def client(self, **session: Any) -> MultiServerMCPClient:
        """A client for it; making one connects to nothing."""
        return MultiServerMCPClient(
            {
                NAME: {
                    "transport": "streamable_http",
                    "url": self.url,
                    "headers": dict(self.headers),
                    "session_kwargs": session,
                }
            }
        )

    async def ask(self, work: Work[T], then_seconds: float | None = None) -> T:
        """Connect, do the work, disconnect. All has to be done in 5 s, or with `then_seconds` the
        connecting has, and the work in that time.

        Raises:
            McpError: the server answered with an error of its own.
            NoGreeting, TimeoutError, ConnectionError, ValueError, RuntimeError: as `faults` tells them.
        """
        loop = asyncio.get_running_loop()
        garbage: asyncio.Future[Exception] = loop.create_future()
        answer: asyncio.Future[T] = loop.create_future()
        greeted = asyncio.Event()

        # What cannot be read is handed to this function only: nobody would answer the request.
        async def heard(message: Any) -> None:
            if isinstance(message, Exception) and not garbage.done():
                garbage.set_result(message)

        async def visit() -> None:
            client = self.client(message_handler=heard)
            async with asyncio.timeout(CONNECT_SECONDS) as limit, client.session(NAME) as session:
                greeted.set()
                if then_seconds is not None:
                    limit.reschedule(loop.time() + then_seconds)
                answer.set_result(await work(session))
                limit.reschedule(loop.time() + FAREWELL_SECONDS)

        visiting = asyncio.create_task(visit())
        budget = CONNECT_SECONDS + (then_seconds or 0) + FAREWELL_SECONDS
        try:
            both: set[asyncio.Future[Any]] = {visiting, garbage}
            done, _ = await asyncio.wait(both, timeout=budget, return_when=asyncio.FIRST_COMPLETED)
        finally:
            fault = await _ended(visiting)
        if answer.done():
            return answer.result()
        if garbage.done():
            raise told(garbage.result())
        assert fault is not None  # noqa: S101 - a visit without an answer has failed
        happened = (answered(fault) or told(fault)) if done else TimeoutError("no answer")
        if isinstance(happened, TimeoutError) and not greeted.is_set():
            happened = NoGreeting(str(happened))
        raise happened from fault


async def _ended(visiting: asyncio.Task[None]) -> BaseException | None:
    """What a visit ended with; it is told to end if it has not."""
    visiting.cancel()
    # Taking leave of a server that hangs would take for ever: it is broken off, too.
    await asyncio.wait({visiting}, timeout=FAREWELL_SECONDS)
    visiting.cancel()
    (fault,) = await asyncio.gather(visiting, return_exceptions=True)
    return fault
