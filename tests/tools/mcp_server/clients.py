"""SDK clients for every network door and both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import httpx2
import mcp_types as types
import websockets
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from typing_extensions import override


@dataclass(frozen=True, slots=True)
class Way:
    """One way in: a transport, and the era the client speaks."""

    transport: str
    mode: str

    @override
    def __str__(self) -> str:
        return f"{self.transport}-{self.mode}"


WAYS: Final = tuple(
    Way(transport, mode)
    for transport in ("streamable_http", "sse", "websocket")
    for mode in ("legacy", "auto")
)


@asynccontextmanager
async def websocket_client(url: str, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    """The two streams of a client over a WebSocket."""
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with websockets.connect(
        url, subprotocols=[websockets.Subprotocol("mcp")], additional_headers=headers
    ) as socket:
        assert socket.subprotocol == "mcp"

        async def reading() -> None:
            async with incoming:
                async for raw in socket:
                    message = types.jsonrpc_message_adapter.validate_json(raw, by_name=False)
                    await incoming.send(SessionMessage(message))

        async def writing() -> None:
            async with outgoing:
                async for message in outgoing:
                    await socket.send(
                        message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    )

        async with anyio.create_task_group() as group:
            group.start_soon(reading)
            group.start_soon(writing)
            yield read_stream, write_stream
            group.cancel_scope.cancel()


@asynccontextmanager
async def connected(
    url: str, way: Way, *, key: str = "", toolset: str = "", **options: Any
) -> AsyncIterator[Client]:
    """A client of the server at `url`, connected."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    suffix = f"/{toolset}" if toolset else ""
    http = httpx2.AsyncClient(headers=headers, timeout=30)
    transport: Any
    if way.transport == "sse":
        transport = sse_client(f"{url}/sse{suffix}", headers=headers, timeout=30)
    elif way.transport == "websocket":
        transport = websocket_client(f"{url.replace('http', 'ws', 1)}/ws{suffix}", headers)
    else:
        transport = streamable_http_client(f"{url}/mcp{suffix}", http_client=http)
    async with http, Client(transport, mode=way.mode, cache=None, **options) as client:
        modern = client.session.protocol_version == "2026-07-28"
        assert modern is (way.mode == "auto")
        yield client


class User:
    """A connected client that plain tests can use: its event loop runs in another thread.

    `notices` holds the methods of the notifications that arrived.
    """

    def __init__(self, portal: BlockingPortal, client: Client, notices: list[str]) -> None:
        self._portal = portal
        self.client = client
        self.notices = notices

    def names(self) -> list[str]:
        """Names of all tools, page by page."""
        found: list[str] = []
        cursor = None
        while True:
            page = self.run(partial(self.client.list_tools, cursor=cursor))
            found += [tool.name for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return found

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **options: Any) -> Any:
        return self.run(partial(self.client.call_tool, tool, dict(arguments or {}), **options))

    def run(self, work: Callable[[], Awaitable[Any]]) -> Any:
        return self._portal.call(work)

    def begin(self, work: Callable[[], Awaitable[Any]]) -> Future[Any]:
        """Start something and go on."""
        return self._portal.start_task_soon(work)


@contextmanager
def user_of(url: str, way: Way, **options: Any) -> Iterator[User]:
    """A client of the server at `url`."""
    notices: list[str] = []

    async def note(message: Any) -> None:
        method = getattr(message, "method", None)
        if isinstance(method, str):
            notices.append(method)

    with start_blocking_portal() as portal:
        opening = connected(url, way, message_handler=note, **options)
        with portal.wrap_async_context_manager(opening) as client:
            yield User(portal, client, notices)
