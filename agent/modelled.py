"""Turns in which a language model decides which tools to call, and words the answer."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import date
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, GraphRecursionError
from typing_extensions import override

from agent import texts
from agent.breaker import Breaker, BreakerOpen
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
from agent.logs import one_line
from agent.model import ModelRefused, ModelUnavailable, unavailable
from agent.model_limits import within
from agent.plain import complaint, is_away
from agent.prompt import instructions, this_day
from agent.settings import MODEL_SECONDS

logger = logging.getLogger(__name__)
# Ten rounds of a model and its tools.
STEPS: Final = 21
# What `create_agent` calls its model.
MODEL_NODE: Final = "model"


class Guards(AgentMiddleware[Any, Any]):
    """Tells the model what it is there for, keeps a failing one behind a breaker, and failing tools from
    ending the turn."""

    def __init__(self, breaker: Breaker, instructed: Callable[[], str], seconds: float) -> None:
        """`seconds` is how long the model may be silent."""
        super().__init__()
        self._seconds = seconds
        self._breaker = breaker
        self._instructed = instructed

    @override
    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            trying = self._breaker.enter()
        except BreakerOpen as fault:
            raise ModelUnavailable(texts.MODEL_UNAVAILABLE) from fault
        try:
            # Each time: a conversation may go on tomorrow.
            told = request.override(system_message=SystemMessage(self._instructed()))
            response = await within(self._seconds, lambda: handler(told))
        except Exception as fault:
            why = unavailable(fault)
            # One person's request that is too long must not take the model from everybody else.
            if isinstance(why, ModelRefused):
                self._breaker.left(trying=trying)
            else:
                self._breaker.failed(trying=trying)
            logger.error("The language model failed: %s: %s", type(fault).__name__, one_line(fault))
            raise why from fault
        except BaseException:
            self._breaker.left(trying=trying)
            raise
        self._breaker.succeeded()
        return response

    @override
    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            return await handler(request)
        except GraphBubbleUp:
            raise
        except Exception:
            call = request.tool_call
            logger.exception("The tool %s failed", one_line(call["name"]))
            return ToolMessage(
                texts.TOOL_FAILED, tool_call_id=call["id"], name=call["name"], status="error"
            )


class ModelledTurns:
    """An agent of LangChain with a model and tools."""

    def __init__(
        self,
        model: BaseChatModel,
        tools: Sequence[BaseTool],
        breaker: Breaker,
        tools_lost: Callable[[], bool],
        *,
        seconds: float = MODEL_SECONDS,
        tools_missing: bool = False,
        today: Callable[[], date] = this_day,
    ) -> None:
        self._tools_lost = tools_lost
        # Those of the server were never loaded.
        self._tools_missing = tools_missing
        guards = Guards(
            breaker, lambda: instructions(today(), tools_missing=tools_missing), seconds
        )
        self._graph = create_agent(model, list(tools), middleware=[guards])

    async def turn(self, message: str, history: Sequence[Turn], ids: Ids) -> AsyncIterator[Event]:
        """What happens, up to the answer."""
        said = _Said(self._tools_lost)
        messages: list[AnyMessage | dict[str, Any]] = [*_before(history), HumanMessage(message)]
        if self._tools_missing:
            said.degraded = True
            yield Error(texts.TOOLS_UNAVAILABLE)
        yield Thinking("Asking the language model")
        try:
            async for mode, payload in self._graph.astream(
                {"messages": messages},
                RunnableConfig(recursion_limit=STEPS, **ids.config()),
                stream_mode=["messages", "updates"],
            ):
                for event in said.told(mode, payload):
                    yield event
        except ModelUnavailable as fault:
            said.degraded = True
            yield Error(str(fault))
            yield ResponseDelta(str(fault))
            said.answer = str(fault)
        except GraphRecursionError:
            yield ResponseDelta(texts.TOO_MANY_STEPS)
            said.answer = texts.TOO_MANY_STEPS
        if not said.answer:
            yield ResponseDelta(texts.MODEL_SAID_NOTHING)
        status = TurnStatus.DEGRADED if said.degraded else TurnStatus.OK
        yield Done(said.answer or texts.MODEL_SAID_NOTHING, status, ids.request_id, ids.thread_id)


class _Said:
    """Makes events of what LangGraph streams, and keeps the answer."""

    def __init__(self, tools_lost: Callable[[], bool]) -> None:
        self._tools_lost = tools_lost
        self.answer = ""
        self.degraded = False

    def told(self, mode: str, payload: Any) -> Iterator[Event]:
        if mode == "messages":
            chunk, about = payload
            # A tool may ask a model of its own: what that says is the tool's.
            if isinstance(chunk, AIMessage) and about.get("langgraph_node") == MODEL_NODE:
                yield from _pieces(chunk)
            return
        for update in payload.values():
            for message in (update or {}).get("messages", ()):
                if isinstance(message, AIMessage):
                    yield from self._decided(message)
                elif isinstance(message, ToolMessage):
                    yield from self._came_back(message)

    def _decided(self, message: AIMessage) -> Iterator[Event]:
        self.answer = "" if message.tool_calls else str(message.text)
        for call in message.tool_calls:
            yield ToolCall(
                call["name"], CallStatus.IN_PROGRESS, args=call["args"], id=call["id"] or ""
            )
        for wrong in message.invalid_tool_calls:
            reason = f"The model's arguments cannot be read: {wrong['error'] or wrong['args']}"
            name, number = wrong["name"] or "?", wrong["id"] or ""
            yield ToolCall(name, CallStatus.FAILED, error=reason, id=number)

    def _came_back(self, message: ToolMessage) -> Iterator[Event]:
        name, text, number = message.name or "?", str(message.text), message.tool_call_id
        if message.status == "error":
            yield ToolCall(name, CallStatus.FAILED, error=text, id=number)
            if self._tools_lost() or text in texts.NOT_THERE or is_away(text):
                self.degraded = True
                yield Error(complaint(text))
        else:
            yield ToolCall(name, CallStatus.COMPLETED, result=text, id=number)
        yield Thinking(f"Reading what {name} answered")


def _pieces(chunk: AIMessage) -> Iterator[Event]:
    for block in chunk.content_blocks:
        if block["type"] == "reasoning" and block.get("reasoning"):
            yield Thinking(str(block.get("reasoning")))
        elif block["type"] == "text" and block["text"]:
            yield ResponseDelta(block["text"])


def _before(history: Sequence[Turn]) -> Iterator[AnyMessage]:
    for turn in history:
        yield HumanMessage(turn.message)
        yield AIMessage(turn.answer)
