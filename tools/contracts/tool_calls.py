"""One call of a tool as it is told afterwards: to the log, and to whoever audits it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tools.contracts.times import wire_time
from tools.errors import CallStatus

# A UUID is one of these as well.
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")


def usable_id(value: Any) -> str:
    """`value` when it can name a call or a conversation; else nothing."""
    return value if isinstance(value, str) and _REQUEST_ID.match(value) else ""


class _Nothing:
    """Stands for a result that there is none of; a tool may well answer with null."""


NOTHING: Final = _Nothing()


@dataclass(frozen=True, slots=True)
class ToolCallContext:
    """What was called, by which ids it is known, when, for how long and how it ended.

    `request_id` is a UUID or a correlation id such as `req_abc123`. A success has a result, which
    may be None; a failure or time-out has an error; never both. `parameters` come without secrets.
    """

    request_id: str
    tool_name: str
    parameters: Any
    execution_start: datetime
    execution_duration: float
    status: CallStatus
    result: Any = NOTHING
    error: str | None = None
    correlation_id: str | None = None
    thread_id: str | None = None

    def __post_init__(self) -> None:
        if not _REQUEST_ID.match(self.request_id):
            raise ValueError("request_id must be a UUID or letters, digits, _ and -")
        if not self.tool_name or self.parameters is None:
            raise ValueError("a call has the name of a tool and parameters")
        if self.execution_duration < 0:
            raise ValueError("execution_duration must not be negative")
        succeeded = self.status is CallStatus.SUCCESS
        if succeeded != (self.result is not NOTHING) or succeeded != (self.error is None):
            raise ValueError("a success has a result, anything else an error, and none has both")

    def to_log(self) -> dict[str, Any]:
        """The fields of the structured log line."""
        ended = {"error": self.error} if self.error is not None else {"result": self.result}
        return {
            "request_id": self.request_id,
            "correlation_id": self.correlation_id,
            "thread_id": self.thread_id,
            "tool_name": self.tool_name,
            "parameters": self.parameters,
            "execution_start": wire_time(self.execution_start),
            "duration": self.execution_duration,
            "status": self.status.value,
            **ended,
        }
