"""The agent: its own tools and those of an MCP server, in one conversation.

At its making it reads its settings, loads the tools of `mcp_url` if there is one, merges them with its
own, and is ready, with or without them.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import date
from time import monotonic
from typing import Final
from uuid import uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient

from agent import texts
from agent.breaker import Breaker
from agent.events import Done, Error, Event, Ids, ResponseDelta, ToolCall, TurnStatus
from agent.faults import shown
from agent.history import History, Turn
from agent.logs import one_line
from agent.mcp_tools import Link, are_same, load, tell_left_out
from agent.model import configured_model
from agent.modelled import ModelledTurns
from agent.pending import Pending
from agent.prompt import this_day
from agent.routed import RoutedTurns
from agent.settings import Settings
from agent.states import READY, AgentState, McpState
from agent.threads import over_within, run_apart, started_apart
from agent.tool_server import TOLD_SECONDS, ToolServer
from agent.waited import turn_begins, waited_in_vain

logger = logging.getLogger(__name__)
# The start is over after 5 s, with what the agent has to do itself. A thread that takes its leave of the server
# for longer is left to do so alone.
LOAD_SECONDS: Final = TOLD_SECONDS - 0.25
# How often a server that could not be reached is tried again, and how long a turn waits for that.
RETRY_SECONDS: Final = 10.0
RETRY_WAIT_SECONDS: Final = 0.8
# How old the list of tools may be with which a turn begins.
REFRESH_SECONDS: Final = 60.0


class ChatAgent:
    """Answers messages with the help of tools. What happens to MCP never keeps it from starting."""

    def __init__(
        self,
        settings: Settings | None = None,
        tools: Sequence[BaseTool] = (),
        *,
        model: BaseChatModel | None = None,
        clock: Callable[[], float] = monotonic,
        today: Callable[[], date] = this_day,
    ) -> None:
        self.state = AgentState.UNINITIALIZED
        self.mcp_state = McpState.NOT_CONFIGURED
        self.settings = Settings.from_environment() if settings is None else settings
        self.mcp_client: MultiServerMCPClient | None = None
        self.breaker = Breaker(clock=clock)
        self._clock = clock
        self._today = today
        self._model = configured_model(self.settings) if model is None else model
        self._history = History()
        self._own_tools = list(tools)
        self.tools = list(tools)
        self._pending = Pending(clock)
        # Without an address nothing of MCP is made.
        self._link = self._way_to(self.settings.mcp_url) if self.settings.mcp_url else None
        self._from_server: Sequence[BaseTool] = ()
        # Told once, not each time that the tools are loaded.
        self._conflicts: frozenset[str] = frozenset()
        self._left_out: Sequence[tuple[str, str]] = ()
        self._loading: Future[None] | None = None
        self._tried_at = clock()
        self._outdated = False
        self.load_tools()

    def _way_to(self, url: str) -> Link:
        return Link(
            ToolServer(url, self.settings.mcp_headers),
            call_seconds=self.settings.mcp_call_seconds,
            changed=self._server_changed,
            outdated=self._tools_outdated,
        )

    def load_tools(self) -> None:
        """Ask the MCP server for its tools, and start over with what there is."""
        self._tried_at = self._clock()
        self._outdated = False
        found = self._load_mcp_tools()
        try:
            self._use(found)
        except Exception as fault:
            # What is wrong without tools of the server has nothing to do with them.
            if not found:
                raise
            self._failed("its tools cannot be used: %s: %s", type(fault).__name__, fault)
            self._use([])

    def _use(self, from_server: Sequence[BaseTool]) -> None:
        self.tools = self._merge_tools(from_server)
        self._initialize_agent()
        self._from_server = from_server

    def _refresh(self, link: Link) -> None:
        """Take over what the server offers by now; where that cannot be, all is as it was."""
        self._tried_at = self._clock()
        self._outdated = False
        before = self.tools
        try:
            found = self._asked_for_tools(link)
            if not are_same(found, self._from_server):
                self._use(found)
        except Exception as fault:  # noqa: BLE001 - there are tools, whatever the server does now
            self.tools = before
            logger.warning(
                "The tools of the MCP server at %s could not be loaded again: %s: %s. "
                "Those from before are used",
                shown(self.settings.mcp_url or ""),
                type(fault).__name__,
                one_line(str(fault) or "no answer"),
            )

    def _asked_for_tools(self, link: Link) -> list[BaseTool]:
        """What the server offers.

        Raises:
            Exception: it cannot be asked, or answers something else.
        """
        loaded = run_apart(lambda: load(link), LOAD_SECONDS)
        if loaded.left_out != self._left_out:
            tell_left_out(loaded.left_out)
            self._left_out = loaded.left_out
        if not loaded.tools:
            url = shown(self.settings.mcp_url or "")
            logger.warning("The MCP server at %s offers no tools", url)
        return loaded.tools

    def _load_mcp_tools(self) -> list[BaseTool]:
        """The tools of the MCP server; none when there is no server, or it cannot be used."""
        link = self._link
        if link is None:
            return []
        if self.settings.mcp_fault:
            self._failed("%s", self.settings.mcp_fault)
            return []
        self.mcp_state = McpState.CONNECTING
        try:
            tools = self._asked_for_tools(link)
        except TimeoutError:
            self._failed("it did not answer within %s seconds", f"{TOLD_SECONDS:g}")
        except ConnectionError as fault:
            self._failed("cannot connect: %s", fault)
        except ValueError as fault:
            self._failed("MCP_URL is not the address of a server: %s", fault)
        except Exception as fault:  # noqa: BLE001 - the agent starts, whatever the server does
            self._failed("%s: %s", type(fault).__name__, fault)
        else:
            self.mcp_state = McpState.CONNECTED
            self.mcp_client = link.server.client()
            return tools
        return []

    def _failed(self, reason: str, *values: object) -> None:
        self.mcp_state = McpState.FAILED
        self.mcp_client = None
        logger.error(
            f"No MCP tools from %s: {reason}. The agent goes on without them",  # noqa: G004
            shown(self.settings.mcp_url or ""),
            *map(one_line, values),
        )

    def _merge_tools(self, from_server: Sequence[BaseTool]) -> list[BaseTool]:
        """The own tools that keep their names, then all of the server's."""
        names = {tool.name for tool in from_server}
        conflicts = [tool.name for tool in self._own_tools if tool.name in names]
        for name in conflicts:
            if name not in self._conflicts:
                logger.warning(
                    "MCP tool '%s' conflicts with existing tool, MCP tool will be used", name
                )
        self._conflicts = frozenset(conflicts)
        return [tool for tool in self._own_tools if tool.name not in names] + list(from_server)

    def _initialize_agent(self) -> None:
        missing = bool(self.settings.mcp_url) and self.mcp_client is None
        self._turns = (
            RoutedTurns(
                self.tools, self.tools_lost, self._pending, named=bool(self.settings.mcp_url)
            )
            if self._model is None
            else ModelledTurns(
                self._model,
                self.tools,
                self.breaker,
                self.tools_lost,
                seconds=self.settings.model_seconds,
                tools_missing=missing,
                today=self._today,
            )
        )
        self.state = READY[self.mcp_state]

    def _server_changed(self, lost: bool) -> None:
        """A call has shown whether the server is there."""
        self.mcp_state = McpState.FAILED if lost else McpState.CONNECTED
        self.state = READY[self.mcp_state]

    def tools_lost(self) -> bool:
        """Whether the server of the tools is not there; while it is tried again, it still is not."""
        return self.mcp_state in {McpState.FAILED, McpState.CONNECTING}

    async def stream(
        self, message: str, *, thread_id: str = "", request_id: str = ""
    ) -> AsyncIterator[Event]:
        """One turn: what happens, and at the end always `Done`."""
        ids = Ids(request_id or f"turn_{uuid4().hex}", thread_id or f"thread_{uuid4().hex}")
        turn_begins()
        try:
            await self._see_to_the_tools()
            async for event in self._turns.turn(message, self._history.of(ids.thread_id), ids):
                # Rules remember nothing, and their answers are what tools told.
                if isinstance(event, Done) and self._model is not None:
                    self._history.add(ids.thread_id, Turn(message, event.final_output))
                yield _named(event, ids)
        except Exception:
            logger.exception("The turn %s failed", ids.request_id)
            yield Error(texts.UNEXPECTED)
            yield ResponseDelta(texts.UNEXPECTED)
            yield Done(texts.UNEXPECTED, TurnStatus.DEGRADED, ids.request_id, ids.thread_id)

    def _tools_outdated(self) -> None:
        """The server does not know what it was asked for."""
        self._outdated = True

    async def _see_to_the_tools(self) -> None:
        """Load those that could not be loaded, if their server is back, and those that may be others by now. A
        slow server is not waited for; what comes later is for the next turn.
        """
        under_way = self._loading is not None and not self._loading.done()
        if self._is_due() and not under_way:
            # Apart: a loop that ends with the turn would wait for its own threads.
            self._loading = started_apart(self._load_again)
        if self._loading is not None and not await over_within(self._loading, RETRY_WAIT_SECONDS):
            waited_in_vain(RETRY_WAIT_SECONDS)

    def _is_due(self) -> bool:
        if self._link is None or self.settings.mcp_fault:
            return False
        age = self._clock() - self._tried_at
        # A server without tools may have some by now.
        if not self._from_server:
            return age >= RETRY_SECONDS
        # Of one that is lost a call will show whether it is back.
        return not self._link.lost and (self._outdated or age >= REFRESH_SECONDS)

    async def _load_again(self) -> None:
        try:
            if self._link is not None and self._from_server:
                self._refresh(self._link)
            else:
                self.load_tools()
        except Exception:
            # Nobody else would hear of it: the turn does not wait for what this comes to.
            logger.exception("The tools could not be loaded again")

    async def reply(self, message: str, *, thread_id: str = "") -> str:
        """The answer to a message, whole."""
        answer = ""
        async for event in self.stream(message, thread_id=thread_id):
            if isinstance(event, Done):
                answer = event.final_output
        return answer


def _named(event: Event, ids: Ids) -> Event:
    """The event; a call without an id is the only one of its turn, and is called like that."""
    if isinstance(event, ToolCall) and not event.id:
        return replace(event, id=ids.request_id)
    return event
