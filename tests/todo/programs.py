"""Todo servers as processes, and clients for them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, TextContent, Tool

PROJECT: Final = Path(__file__).resolve().parents[2]
MODULE: Final = ("-m", "examples.todo_server")
T = TypeVar("T")
NAMES: Final = ("create_todo", "list_todos", "update_todo", "search_todos", "delete_todo")


def over_stdio(database: str, **environment: str) -> StdioServerParameters:
    """How a client starts one of its own."""
    return StdioServerParameters(
        command=sys.executable,
        args=[*MODULE, "--database", database],
        cwd=PROJECT,
        env=environment,
    )


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A Todo server at an address."""

    process: subprocess.Popen[str]
    url: str


@contextmanager
def over_http(database: str) -> Iterator[HttpServer]:
    """One at a port that the system chose; told to stop afterwards."""
    process = subprocess.Popen(
        [sys.executable, *MODULE, "--http", "--port", "0", "--database", database],
        cwd=PROJECT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield HttpServer(process, process.stderr.readline().split()[-1])
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


class Caller:
    """A connected client for plain tests: its event loop runs in another thread."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client = client
        self._portal = portal

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        return self._portal.call(work)

    def tools(self) -> list[Tool]:
        return self.run(self.client.list_tools).tools

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.run(lambda: self.client.call_tool(tool, arguments))

    def given(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool gives, structured."""
        result = self.call(tool, **arguments)
        assert result.is_error is False, result
        content: dict[str, Any] = result.structured_content
        return content

    def refusal(self, tool: str, **arguments: Any) -> str:
        """What a tool says that does not do what it was asked."""
        result = self.call(tool, **arguments)
        assert result.is_error is True, result
        assert result.structured_content is None
        return text_of(result)

    def titles(self, tool: str, **arguments: Any) -> list[str]:
        """The titles of what was found, all of it."""
        found = self.given(tool, **arguments)
        assert found["total"] == len(found["todos"])
        return [todo["title"] for todo in found["todos"]]

    def at_once(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[CallToolResult]:
        """The answers to calls that were all made at the same time."""

        async def gathered() -> list[CallToolResult]:
            return await asyncio.gather(
                *(self.client.call_tool(tool, dict(arguments)) for tool, arguments in calls)
            )

        return self.run(gathered)


@contextmanager
def caller(
    server: Server[Any] | StdioServerParameters | str, mode: str = "auto"
) -> Iterator[Caller]:
    """A client of a server in this process, of one it starts, or of one at an address."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
    ):
        yield Caller(client, portal)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text
