"""Turns without a language model: rules pick one tool, and the answer is what it said."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException

from agent import texts
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
from agent.plain import complaint, readable
from agent.routing import Choice, Routes, Search

logger = logging.getLogger(__name__)
SEARCH: Final = "tool_search"
SEARCH_SECONDS: Final = 1.0
LONGEST_QUERY: Final = 500
EXAMPLES: Final = 5
WAITING: Final = 1000
# How people take back what they were asked more about. "No. 3" is a number.
_DROPPING: Final = re.compile(
    r"\W*(?:no(?!\W*\d)|nope|nah|never ?mind|cancel|forget (?:it|that|about)|don['’]?t|do not|keep|wait|stop)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that lacked something, and what was picked for it."""

    message: str
    choice: Choice


class RoutedTurns:
    """Answers by calling the tool that a router picks."""

    def __init__(
        self, tools: Sequence[BaseTool], tools_lost: Callable[[], bool], *, named: bool
    ) -> None:
        """`named` says whether the settings name a server for tools."""
        self._tools = {tool.name: tool for tool in tools}
        self._tools_lost = tools_lost
        self._named = named
        self._routes: Routes | None = None
        # What people were asked back, by conversation.
        self._asked: dict[str, Asked] = {}

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
        dropped = ids.thread_id in self._asked and bool(_DROPPING.match(message))
        choice = await self._choice(message, ids.thread_id)
        if choice is None and dropped:
            yield ResponseDelta(texts.DROPPED)
            return
        if choice is None or choice.tool not in self._tools:
            yield ResponseDelta(self._can_be_asked())
            return
        yield Thinking(f"Picked {choice.tool}: {choice.reason}")
        if choice.missing:
            self._remember(ids.thread_id, Asked(message, choice))
            yield ResponseDelta(self._asks_for(choice))
            return
        async for event in self._call(choice, ids):
            yield event

    async def _choice(self, message: str, thread_id: str) -> Choice | None:
        """What the message asks for, by itself or as the answer to what was asked back."""
        routes = self._router()
        alone = await routes.route(message)
        asked = self._asked.pop(thread_id, None)
        if (
            asked is None
            or _DROPPING.match(message)
            or (alone and alone.tool != asked.choice.tool and not alone.missing)
        ):
            return alone
        together = await routes.route(f"{asked.message} {message}")
        if together is not None and together.tool == asked.choice.tool and not together.missing:
            return together
        return self._filled(asked.choice, message) or together or alone

    def _filled(self, choice: Choice, message: str) -> Choice | None:
        """The choice with the message as the one text that it lacked."""
        if len(choice.missing) != 1:
            return None
        if self._property(choice.tool, choice.missing[0]).get("type") != "string":
            return None
        arguments = {**choice.arguments, choice.missing[0]: message.strip()}
        return _Filled(choice.tool, arguments, (), choice.reason, choice.score)

    async def _call(self, choice: Choice, ids: Ids) -> AsyncIterator[Event]:
        arguments = dict(choice.arguments)
        yield ToolCall(choice.tool, CallStatus.IN_PROGRESS, args=arguments)
        failed, text = await self._answer(choice.tool, arguments, ids)
        if failed:
            yield ToolCall(choice.tool, CallStatus.FAILED, error=text)
            if self._tools_lost() or text in texts.NOT_THERE:
                yield Error(text)
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
                Offered(tool.name, tool.description, self._schema(tool.name))
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
            try:
                async with asyncio.timeout(SEARCH_SECONDS):
                    found = await tool.link.call(tool.remote_name, {"query": query[:LONGEST_QUERY]})
            except (ToolException, TimeoutError):
                return []
            return names_found(found.structuredContent)

        return search

    def _schema(self, name: str) -> Mapping[str, Any]:
        schema = self._tools[name].tool_call_schema
        if isinstance(schema, dict):
            return schema
        return self._tools[name].get_input_jsonschema()

    def _property(self, tool: str, name: str) -> Mapping[str, Any]:
        """What the schema says of an argument; it may be just `true`."""
        properties = self._schema(tool).get("properties")
        found = properties.get(name) if isinstance(properties, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def _remember(self, thread_id: str, asked: Asked) -> None:
        self._asked[thread_id] = asked
        while len(self._asked) > WAITING:
            self._asked.pop(next(iter(self._asked)))

    def _asks_for(self, choice: Choice) -> str:
        wanted = "\n".join(
            _described(name, self._property(choice.tool, name)) for name in choice.missing
        )
        return (
            f"{texts.NO_MODEL} This one would be {choice.tool}. Why: {choice.reason}.\n"
            f"Please tell also:\n{wanted}"
        )

    def _can_be_asked(self) -> str:
        shown = [tool for tool in self._tools.values() if tool.name != SEARCH][:EXAMPLES]
        lines = [f"- {tool.name}: {_first_sentence(tool.description)}" for tool in shown]
        more = len(self._tools) - len(shown)
        lines += [f"and {more} more"] if more > 0 else []
        return "\n".join(
            [f"{texts.NO_MODEL} None fits this message. There are for example:", *lines]
        )


@dataclass(frozen=True, slots=True)
class _Filled:
    tool: str
    arguments: Mapping[str, Any]
    missing: tuple[str, ...]
    reason: str
    score: float


def names_found(structured: Any) -> list[str]:
    """The names in an answer of `tool_search`, best first."""
    listed = structured.get("tools", ()) if isinstance(structured, Mapping) else ()
    return [one["name"] for one in listed if isinstance(one, Mapping) and "name" in one]


def _with(arguments: Mapping[str, Any]) -> str:
    return f" with {json.dumps(arguments, ensure_ascii=False)}" if arguments else ""


def _described(name: str, schema: Mapping[str, Any]) -> str:
    return "- " + ": ".join(_parts(name, schema))


def _parts(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name} ({schema['type']})" if isinstance(schema.get("type"), str) else name
    if schema.get("description"):
        yield str(schema["description"])


def _first_sentence(text: str) -> str:
    return text.strip().partition("\n")[0].partition(". ")[0].rstrip(".")
