"""What happens in one turn of a conversation, as it is streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from langchain_core.runnables import RunnableConfig


class CallStatus(StrEnum):
    """How far a call of a tool is."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class TurnStatus(StrEnum):
    """Whether all that the turn needed was there."""

    OK = "ok"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class Thinking:
    """What is being done, or what the model lets know of its reasoning."""

    kind: ClassVar[str] = "THINKING"
    content: str

    def data(self) -> dict[str, Any]:
        return {"content": self.content}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool is called, has answered, or has failed."""

    kind: ClassVar[str] = "TOOL_CALL"
    tool_name: str
    status: CallStatus
    args: Mapping[str, Any] | None = None
    result: str | None = None
    error: str | None = None
    # The same for all that is told of one call.
    id: str = ""

    def data(self) -> dict[str, Any]:
        told = {"args": self.args, "result": self.result, "error": self.error}
        given = {name: value for name, value in told.items() if value is not None}
        named = {"id": self.id, "tool_name": self.tool_name, "status": self.status.value}
        return {**named, **given}


@dataclass(frozen=True, slots=True)
class ResponseDelta:
    """The next piece of the answer."""

    kind: ClassVar[str] = "RESPONSE_DELTA"
    text: str

    def data(self) -> dict[str, Any]:
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class Error:
    """Something the turn needed is not there; the text is for people."""

    kind: ClassVar[str] = "ERROR"
    error: str
    status: TurnStatus = TurnStatus.DEGRADED

    def data(self) -> dict[str, Any]:
        return {"error": self.error, "status": self.status.value}


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a turn, with the whole answer."""

    kind: ClassVar[str] = "DONE"
    final_output: str
    status: TurnStatus = TurnStatus.OK
    request_id: str = ""
    thread_id: str = ""

    def data(self) -> dict[str, Any]:
        return {
            "final_output": self.final_output,
            "status": self.status.value,
            "request_id": self.request_id,
            "thread_id": self.thread_id,
        }


Event = Thinking | ToolCall | ResponseDelta | Error | Done


@dataclass(frozen=True, slots=True)
class Ids:
    """What a turn is called: `request_id` is its own, `thread_id` that of its conversation."""

    request_id: str
    thread_id: str

    def config(self) -> RunnableConfig:
        """For LangChain, which hands it on to the tools."""
        return {"configurable": {"request_id": self.request_id, "thread_id": self.thread_id}}
