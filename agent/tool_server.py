"""The MCP server: a session for each piece of work, bounded in time, and none in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import httpx
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession

from agent.faults import answered, told
from agent.pulse import Known
from agent.watched import WatchedClient

NAME: Final = "mcp_server"
TRANSPORT: Final = "streamable_http"
# What a server may take to greet or to list its tools, as people are told; its limit leaves time to say so.
TOLD_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = TOLD_SECONDS - 0.5
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
    # What its calls show.
    known: Known = field(default_factory=Known, repr=False, compare=False)

    def client(
        self, http: Callable[..., httpx.AsyncClient] | None = None, **session: Any
    ) -> MultiServerMCPClient:
        """A client for it, with connections that `http` makes; making one connects to nothing."""
        return MultiServerMCPClient(
            {
                NAME: {
                    "transport": TRANSPORT,
                    "url": self.url,
                    "headers": dict(self.headers),
                    "session_kwargs": session,
                    "httpx_client_factory": http,
                }
            }
        )

    async def ask(
        self, work: Work[T], then_seconds: float | None = None, *, waited: float = 0.0
    ) -> T:
        """Connect, do the work, disconnect. All has to be done in 4.5 s, or with `then_seconds` the
        connecting has, and the work in that time. What was `waited` for a greeting before counts.

        Raises:
            McpError: the server answered with an error of its own.
            NoGreeting, TimeoutError, ConnectionError, ValueError, RuntimeError: as `faults` tells them.
        """
        loop = asyncio.get_running_loop()
        connecting = CONNECT_SECONDS - waited
        unanswered: asyncio.Future[Exception] = loop.create_future()
        answer: asyncio.Future[T] = loop.create_future()
        greeted = asyncio.Event()

        def gone(fault: Exception) -> None:
            if not unanswered.done():
                unanswered.set_result(fault)

        # What cannot be read is handed to this function only: nobody would answer the request.
        async def heard(message: Any) -> None:
            if isinstance(message, Exception):
                gone(message)

        async def visit() -> None:
            http = partial(WatchedClient, gone, self.known)
            client = self.client(http=http, message_handler=heard)
            async with asyncio.timeout(connecting) as limit, client.session(NAME) as session:
                greeted.set()
                if then_seconds is not None:
                    limit.reschedule(loop.time() + then_seconds)
                answer.set_result(await work(session))
                limit.reschedule(loop.time() + FAREWELL_SECONDS)

        visiting = asyncio.create_task(visit())
        budget = connecting + (then_seconds or 0) + FAREWELL_SECONDS
        try:
            both: set[asyncio.Future[Any]] = {visiting, unanswered}
            done, _ = await asyncio.wait(both, timeout=budget, return_when=asyncio.FIRST_COMPLETED)
        finally:
            fault = await _ended(visiting)
        if answer.done():
            return answer.result()
        if unanswered.done():
            raise told(unanswered.result())
        assert fault is not None  # noqa: S101 - a visit without an answer has failed
        raise _happened(fault, in_time=bool(done), greeted=greeted.is_set()) from fault


def _happened(fault: BaseException, *, in_time: bool, greeted: bool) -> Exception:
    """What became of a visit without an answer."""
    happened = (answered(fault) or told(fault)) if in_time else TimeoutError("no answer")
    if isinstance(happened, TimeoutError) and not greeted:
        return NoGreeting(str(happened))
    return happened


async def _ended(visiting: asyncio.Task[None]) -> BaseException | None:
    """What a visit ended with; it is told to end if it has not."""
    visiting.cancel()
    # Taking leave of a server that hangs would take for ever: it is broken off, too.
    await asyncio.wait({visiting}, timeout=FAREWELL_SECONDS)
    visiting.cancel()
    (fault,) = await asyncio.gather(visiting, return_exceptions=True)
    return fault
