"""Tools of an MCP server as LangChain tools, each call in a session of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp import ClientSession
from mcp.shared.exceptions import McpError
from mcp.types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ClientRequest,
    ListToolsRequest,
    PaginatedRequestParams,
    RequestParams,
    Result,
)
from pydantic import ConfigDict
from typing_extensions import override

from agent import texts
from agent.content import Answer, text_of
from agent.definitions import Definition, read
from agent.logs import one_line
from agent.threads import over_within, run_apart, started_apart
from agent.tool_server import (
    CALL_SECONDS,
    CONNECT_SECONDS,
    FAREWELL_SECONDS,
    NoGreeting,
    ToolServer,
)
from agent.waited import waited_in_vain, waited_so_far

logger = logging.getLogger(__name__)
MOST_PAGES: Final = 1000
# How a tool that is not there is told: as an error of the protocol, or by the SDK as a failed call.
UNKNOWN: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})
UNKNOWN_TOOL: Final = "unknown tool"
MOST_NAMED: Final = 10
# How long a call waits for a server that was lost, so that what it says comes within a second.
GREETING_SECONDS: Final = 0.8


@dataclass(slots=True)
class Link:
    """The way to the server, and whether it was open when last gone."""

    server: ToolServer
    lost: bool = False
    # How long a call may take; None is as long as it may at most with a control plane.
    call_seconds: float | None = None
    changed: Callable[[bool], None] = field(default=lambda lost: None, repr=False)
    # It does not know a tool, or what the tool takes: others may be offered by now.
    outdated: Callable[[], None] = field(default=lambda: None, repr=False)
    _greeting: Future[None] | None = field(default=None, init=False, repr=False)

    @property
    def longest_call(self) -> float:
        return CALL_SECONDS if self.call_seconds is None else self.call_seconds

    async def call_briefly(
        self, name: str, arguments: Mapping[str, Any], seconds: float
    ) -> CallToolResult | None:
        """Call a tool that can be done without; None when it takes longer. The other calls of the turn
        wait for the greeting of the server so much less, so that all together wait no longer than one.

        Raises:
            ToolException: as `call`.
        """
        greeted = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                return await self.call(name, arguments, greeted)
        except TimeoutError:
            if not greeted.is_set():
                waited_in_vain(seconds)
            return None

    async def call(
        self, name: str, arguments: Mapping[str, Any], greeted: asyncio.Event | None = None
    ) -> CallToolResult:
        """Call a tool; `greeted` is set as soon as its server has greeted.

        Raises:
            ToolException: the server cannot be asked, or declines; the text is for people.
        """
        params = CallToolRequestParams(name=name, arguments=dict(arguments), _meta=_meta())
        request = ClientRequest(CallToolRequest(params=params))

        # Not `session.call_tool`: it lists all tools again after each call, to check the answer.
        async def work(session: ClientSession) -> Answer:
            if greeted is not None:
                greeted.set()
            return await session.send_request(request, Answer)

        try:
            if self.lost:
                await self._found_again()
            answer = await self.server.ask(work, self.longest_call, waited=waited_so_far())
        except McpError as declined:
            self._now(lost=False)
            if declined.error.code in UNKNOWN:
                self.outdated()
            raise ToolException(declined.error.message) from declined
        except NoGreeting as fault:
            raise self._was_lost(name, fault) from fault
        except TimeoutError as fault:
            logger.error("MCP tool '%s' did not answer: %s", one_line(name), one_line(fault))
            raise ToolException(texts.TOOL_TIMED_OUT) from fault
        except (ConnectionError, ValueError, RuntimeError) as fault:
            raise self._was_lost(name, fault) from fault
        self._now(lost=False)
        return self._read(name, answer)

    def _read(self, name: str, answer: Answer) -> CallToolResult:
        if wrong := answer.wrong():
            logger.error("MCP tool '%s' answered oddly: %s", one_line(name), one_line(wrong))
        result = answer.read()
        if result.isError and text_of(result).lower().startswith(UNKNOWN_TOOL):
            self.outdated()
        return result

    async def _found_again(self) -> None:
        """Wait for the greeting of a server that was lost. A slow one is not waited for, and may go on: it
        counts as there when it is done.

        Raises:
            NoGreeting: not yet.
            McpError, TimeoutError, ConnectionError, ValueError, RuntimeError: as `ToolServer.ask`.
        """
        if self._greeting is None or self._greeting.done():
            self._greeting = started_apart(self._greet)
        greeting = self._greeting
        if not await over_within(greeting, max(0.0, GREETING_SECONDS - waited_so_far())):
            raise NoGreeting("it was lost before, and has not come back yet")
        greeting.result()

    async def _greet(self) -> None:
        await self.server.ask(_nothing)
        self._now(lost=False)

    def _was_lost(self, name: str, fault: Exception) -> ToolException:
        logger.error(
            "MCP server was lost during a call of '%s': %s", one_line(name), one_line(fault)
        )
        self._now(lost=True)
        return ToolException(texts.TOOLS_UNAVAILABLE)

    def _now(self, *, lost: bool) -> None:
        self.lost = lost
        self.changed(lost)


class McpTool(BaseTool):
    """One tool. It keeps no connection, so it works again as soon as its server does."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    remote_name: str
    link: Link
    response_format: Any = "content_and_artifact"
    handle_tool_error: Any = True

    @property
    def available(self) -> bool:
        """Whether the server was there at the last call."""
        return not self.link.lost

    # Nothing else is named: a tool may have arguments called `config`, `runtime` or `self`.
    @override
    async def _arun(self, /, **arguments: Any) -> tuple[str, Any]:
        result = await self.link.call(self.remote_name, arguments)
        text = text_of(result)
        if result.isError:
            raise ToolException(text)
        return text, result.structuredContent

    @override
    def _run(self, /, **arguments: Any) -> tuple[str, Any]:
        limit = CONNECT_SECONDS + self.link.longest_call + 3 * FAREWELL_SECONDS
        try:
            return run_apart(lambda: self._arun(**arguments), limit)
        except TimeoutError as fault:
            raise ToolException(texts.TOOL_TIMED_OUT) from fault


class _Listed(Result):
    """A page of tools, not looked into: one that is wrong must not cost the page."""

    tools: list[Any]
    nextCursor: str | None = None  # noqa: N815 - as on the wire


@dataclass(frozen=True, slots=True)
class Loaded:
    """The tools of a server, and for those that cannot be offered their names with the reasons."""

    tools: list[BaseTool]
    left_out: Sequence[tuple[str, str]]


async def load(link: Link) -> Loaded:
    """All tools of the server that can be offered."""
    listed = read(await link.server.ask(_list))
    link.lost = False
    left_out = list(listed.left_out)
    tools: list[BaseTool] = []
    for definition in listed.tools:
        tool = _tool(definition, link)
        try:
            # As it will be for every message to a model.
            convert_to_openai_tool(tool)
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with it, the others are not
            left_out.append((definition.remote_name, f"{type(fault).__name__}: {fault}"))
        else:
            tools.append(tool)
    return Loaded(tools, left_out)


def tell_left_out(left_out: Sequence[tuple[str, str]]) -> None:
    """Log which tools cannot be offered; of many, the first and how many there are."""
    for name, reason in left_out[:MOST_NAMED]:
        logger.error("MCP tool '%s' was left out: %s", one_line(name), one_line(reason))
    more = len(left_out) - MOST_NAMED
    if more > 0:
        logger.error("%d more MCP tools were left out", more)


def are_same(tools: Sequence[BaseTool], others: Sequence[BaseTool]) -> bool:
    """Whether they are the same in all that is told of them."""
    return list(map(_told, tools)) == list(map(_told, others))


def _told(tool: BaseTool) -> tuple[object, ...]:
    remote = tool.remote_name if isinstance(tool, McpTool) else ""
    return tool.name, remote, tool.description, tool.args_schema, tool.metadata


def _tool(definition: Definition, link: Link) -> McpTool:
    return McpTool(
        name=definition.name,
        description=definition.description,
        args_schema=dict(definition.input_schema),
        metadata=dict(definition.annotations),
        remote_name=definition.remote_name,
        link=link,
    )


async def _nothing(session: ClientSession) -> None:
    """To be greeted is all."""


async def _list(session: ClientSession) -> list[Any]:
    tools: list[Any] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        params = PaginatedRequestParams(cursor=cursor)
        request = ClientRequest(ListToolsRequest(params=params))
        page = await session.send_request(request, _Listed)
        tools.extend(page.tools)
        cursor = page.nextCursor
        if not cursor:
            return tools
    raise RuntimeError(f"the list of tools has more than {MOST_PAGES} pages")


def _meta() -> RequestParams.Meta | None:
    """The ids of the conversation, which the control plane keeps with the call."""
    given = ensure_config().get("configurable", {})
    ids = {name: given[name] for name in ("request_id", "thread_id") if given.get(name)}
    return RequestParams.Meta(**ids) if ids else None
