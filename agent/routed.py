"""Turns without a language model: rules pick one tool, and the answer is what it said."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException

from agent import texts
from agent.answers import Answers, property_of
from agent.events import (
    CallStatus,
    Done,
    Error,
    Event,
    Ids,
    ResponseDelta,
    Thinking,
    ToolCall,
    TurnStatus,
)
from agent.history import Turn
from agent.mcp_tools import McpTool
from agent.pending import Pending
from agent.plain import complaint, is_away, readable
from agent.routing import Choice, Routes, Search

logger = logging.getLogger(__name__)
SEARCH: Final = "tool_search"
SEARCH_SECONDS: Final = 1.0
LONGEST_QUERY: Final = 500
EXAMPLES: Final = 5
LISTED: Final = 10


class RoutedTurns:
    """Answers by calling the tool that a router picks."""

    def __init__(
        self,
        tools: Sequence[BaseTool],
        tools_lost: Callable[[], bool],
        pending: Pending,
        *,
        named: bool,
    ) -> None:
        """`pending` is what people were asked back, which lasts longer than these tools. `named` says whether
        the settings name a server for tools."""
        self._tools = {tool.name: tool for tool in tools}
        self._tools_lost = tools_lost
        self._named = named
        self._routes: Routes | None = None
        self._pending = pending

    async def turn(self, message: str, history: Sequence[Turn], ids: Ids) -> AsyncIterator[Event]:
        """What happens, up to the answer."""
        status = TurnStatus.OK
        answer = ""
        async for event in self._events(message, ids):
            if isinstance(event, Error):
                status = TurnStatus.DEGRADED
            if isinstance(event, ResponseDelta):
                answer += event.text
            yield event
        yield Done(answer, status, ids.request_id, ids.thread_id)

    async def _events(self, message: str, ids: Ids) -> AsyncIterator[Event]:
        if not self._tools:
            offered = texts.TOOLS_UNAVAILABLE if self._tools_lost() else texts.NO_TOOLS
            why = offered if self._named else texts.NOTHING_CONFIGURED
            yield Error(why)
            yield ResponseDelta(why)
            return
        asked = self._pending.pop(ids.thread_id)
        if asked is not None and asked.choice.tool not in self._tools:
            asked = None
        answers = Answers(self._router(), self._schema)
        choice = await answers.choice(message, asked)
        if choice is None and asked is not None and answers.drop(message, asked):
            yield ResponseDelta(texts.DROPPED)
            return
        if choice is None or choice.tool not in self._tools:
            yield ResponseDelta(self._can_be_asked())
            return
        yield Thinking(f"Picked {choice.tool}: {choice.reason}")
        if choice.missing or choice.any_of or not choice.sure:
            again = asked is not None and choice is asked.choice
            self._pending.put(ids.thread_id, asked.message if asked and again else message, choice)
            yield ResponseDelta(self._asks_back(choice))
            return
        async for event in self._call(choice, ids):
            yield event

    async def _call(self, choice: Choice, ids: Ids) -> AsyncIterator[Event]:
        arguments = dict(choice.arguments)
        yield ToolCall(choice.tool, CallStatus.IN_PROGRESS, args=arguments)
        failed, text = await self._answer(choice.tool, arguments, ids)
        if failed:
            yield ToolCall(choice.tool, CallStatus.FAILED, error=text)
            if self._tools_lost() or text in texts.NOT_THERE or is_away(text):
                yield Error(complaint(text))
        else:
            yield ToolCall(choice.tool, CallStatus.COMPLETED, result=text)
        outcome = f"It failed: {complaint(text)}" if failed else f"It answered:\n{readable(text)}"
        yield ResponseDelta(
            f"{texts.NO_MODEL} Picked {choice.tool}{_with(arguments)}. Why: {choice.reason}.\n"
            f"{outcome}"
        )

    async def _answer(self, name: str, arguments: Mapping[str, Any], ids: Ids) -> tuple[bool, str]:
        """Whether the tool failed, and what it said."""
        order = {"type": "tool_call", "id": ids.request_id, "name": name, "args": arguments}
        try:
            message = await self._tools[name].ainvoke(order, ids.config())
        except Exception:
            logger.exception("The tool %s failed", name)
            return True, texts.TOOL_FAILED
        failed = isinstance(message, ToolMessage) and message.status == "error"
        return failed, str(message.text)

    def _router(self) -> Routes:
        if self._routes is None:
            # Only here: the agent works with a model alone, too.
            from agent.router import Offered, Router

            offered = [
                Offered(tool.name, tool.description, self._schema(tool.name), **known_of(tool))
                for tool in self._tools.values()
            ]
            self._routes = Router(offered, self._search())
        return self._routes

    def _search(self) -> Search | None:
        """How to ask the control plane which tools fit; None when it does not offer that."""
        tool = self._tools.get(SEARCH)
        if not isinstance(tool, McpTool):
            return None

        async def search(query: str) -> Sequence[str]:
            # The call that follows will show whether it is back.
            if tool.link.lost:
                return []
            asked = {"query": query[:LONGEST_QUERY]}
            try:
                found = await tool.link.call_briefly(tool.remote_name, asked, SEARCH_SECONDS)
            except ToolException:
                return []
            return names_found(found.structuredContent) if found is not None else []

        return search

    def _schema(self, name: str) -> Mapping[str, Any]:
        schema = self._tools[name].tool_call_schema
        if isinstance(schema, dict):
            return schema
        return self._tools[name].get_input_jsonschema()

    def _asks_back(self, choice: Choice) -> str:
        limits = f"{texts.ONE_CALL} " if choice.several else ""
        call = f"{choice.tool}{_told(choice.arguments)}"
        left = f" This leaves out {_listed(choice.left_out)}." if choice.left_out else ""
        if not choice.missing and not choice.any_of:
            alone = " and do nothing else" if choice.several else ""
            return (
                f"{texts.NO_MODEL} {limits}Shall I call {call}{alone}?{left} "
                "Say yes, or say what you want instead."
            )
        what = "Please tell also" if choice.missing else "Please tell what to change, one of these"
        wanted = "\n".join(
            _described(name, property_of(self._schema(choice.tool), name))
            for name in choice.missing or choice.any_of
        )
        return (
            f"{texts.NO_MODEL} {limits}This one would be {call}.{left} Why: {choice.reason}.\n"
            f"{what}:\n{wanted}"
        )

    def _can_be_asked(self) -> str:
        shown = [tool for tool in self._tools.values() if tool.name != SEARCH][:EXAMPLES]
        lines = [f"- {tool.name}: {_first_sentence(tool.description)}" for tool in shown]
        more = len(self._tools) - len(shown)
        lines += [f"and {more} more"] if more > 0 else []
        return "\n".join(
            [f"{texts.NO_MODEL} None fits this message. There are for example:", *lines]
        )


def known_of(tool: BaseTool) -> dict[str, bool]:
    """What its server says of a tool's effects; a false hint tells nothing, so only a true one counts."""
    hints = tool.metadata or {}
    return {
        "read_only": hints.get("readOnlyHint") is True,
        "destructive": hints.get("destructiveHint") is True,
    }


def names_found(structured: Any) -> list[str]:
    """The names in an answer of `tool_search`, best first."""
    listed = structured.get("tools", ()) if isinstance(structured, Mapping) else ()
    return [one["name"] for one in listed if isinstance(one, Mapping) and "name" in one]


def _with(arguments: Mapping[str, Any]) -> str:
    return f" with {json.dumps(arguments, ensure_ascii=False)}" if arguments else ""


def _told(arguments: Mapping[str, Any]) -> str:
    """Arguments as one would say them: ` with todo_id 17`."""
    said = ", ".join(
        f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()
    )
    return f" with {said}" if said else ""


def _listed(said: Sequence[str]) -> str:
    """`5, 6 and 7`"""
    more = len(said) - LISTED
    shown = [*said[:LISTED], f"{more} more"] if more > 0 else list(said)
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def _described(name: str, schema: Mapping[str, Any]) -> str:
    return "- " + ": ".join(_parts(name, schema))


def _parts(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name} ({schema['type']})" if isinstance(schema.get("type"), str) else name
    if schema.get("description"):
        yield str(schema["description"])


def _first_sentence(text: str) -> str:
    return text.strip().partition("\n")[0].partition(". ")[0].rstrip(".")
