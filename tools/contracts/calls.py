"""A call on its way: who makes it, what is asked for, what its backend knows and gives back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from tools.contracts.times import time_ordered_uuid
from tools.errors import ControlPlaneError, ErrorDetails, ExecutionFailed


class Transport(StrEnum):
    """The door a call came through."""

    REST = "rest"
    STDIO = "stdio"
    SSE = "sse"
    STREAMABLE_HTTP = "streamable_http"
    WEBSOCKET = "websocket"
    ADMIN = "admin"
    CLI = "cli"


class CallerKind(StrEnum):
    API_KEY = "api_key"
    ANONYMOUS = "anonymous"
    ADMIN = "admin"
    LOCAL = "local"
    OAUTH = "oauth"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a caller presented at the door. The secret never appears in a repr.

    `toolset` is the one set of tools the caller asked for by the address it uses; empty: all it
    was granted.
    """

    kind: CallerKind
    secret: str = field(default="", repr=False)
    name: str = ""
    address: str = ""
    toolset: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, once known. `toolsets` None means every tool."""

    kind: CallerKind
    identifier: str
    name: str
    rate_per_minute: int
    toolsets: frozenset[str] | None = None
    manages_corpora: bool = False


# Tells the caller how far a call is: done, total (None: not known), a word about it.
Progress = Callable[[float, float | None, str], Awaitable[None]]
# Asks the caller while a call runs: requests `{method, params}` by name in, responses by name out.
Asking = Callable[[Mapping[str, Mapping[str, Any]]], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Round:
    """What the caller answered to the questions an earlier leg of the call ended with."""

    responses: Mapping[str, Any] = field(default_factory=dict)
    state: str | None = None


class InputRequired(Exception):
    """The call cannot be completed before its caller has answered `requests`, by name.

    Not a failure: the caller makes the call again, with its answers and `state` as it was given.
    """

    def __init__(self, requests: Mapping[str, Any], state: str | None) -> None:
        super().__init__("the caller has to answer something first")
        self.requests = requests
        self.state = state


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as a door understood it.

    `fault` is what the door found wrong while reading a request that is still a call (it names a
    tool); `execute` raises it during validation, so that the refusal is journalled like any other.
    `caller` is who made a call that was accepted earlier and runs now; it stands in for the
    credentials, which are not kept. `time_limit` is how many seconds such a call may take, in place
    of the service's limit for calls that somebody waits for. `askable` has the methods by which the
    caller may be asked for something meanwhile, `asking` does it where that is possible.
    `in_rounds` says that the caller takes questions for an answer, and calls again with `round`.
    `fresh` asks for an answer of the backend, whatever the cache has.
    `trace` has the W3C trace context the call came with, by the names of its headers.
    `observer` gets the record of the call once it is in the journal, with what each stage decided;
    only calls that have one are watched that closely.
    """

    tool: str
    arguments: Mapping[str, Any]
    credentials: Credentials
    transport: Transport
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    correlation_id: str = ""
    thread_id: str = ""
    fault: ControlPlaneError | None = None
    progress: Progress | None = field(default=None, repr=False)
    caller: Caller | None = None
    time_limit: float | None = None
    askable: frozenset[str] = frozenset()
    asking: Asking | None = field(default=None, repr=False)
    in_rounds: bool = False
    round: Round | None = None
    fresh: bool = False
    trace: Mapping[str, str] = field(default_factory=dict)
    observer: Callable[[Any], None] | None = field(default=None, repr=False)
    call_id: uuid.UUID = field(default_factory=time_ordered_uuid)
    received_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Deadline:
    """The one point in time by which a call must be over, on the monotonic clock."""

    at: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(at=time.monotonic() + seconds, seconds=seconds)

    def remaining(self) -> float:
        return max(0.0, self.at - time.monotonic())


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a backend knows about the call it serves, beside its arguments.

    `progress` may be called as often as the backend likes; it reaches the caller when the caller
    asked to be told, and costs nothing otherwise. `asking` is there when the caller can be asked
    while the call runs: in a task, or on a connection that stays open. A caller with `in_rounds`
    can be asked by raising `InputRequired`; `round` has its answers then.
    """

    caller: Caller
    deadline: Deadline
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    correlation_id: str = ""
    thread_id: str = ""
    progress: Progress | None = field(default=None, repr=False)
    asking: Asking | None = field(default=None, repr=False)
    transport: Transport = Transport.CLI
    in_rounds: bool = False
    round: Round | None = None
    trace: Mapping[str, str] = field(default_factory=dict)

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far the call is."""
        if self.progress is not None:
            await self.progress(done, total, message)

    async def ask(self, requests: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        """Ask the caller for something, as `{method, params}` by name; its responses by name.

        Raises:
            ExecutionFailed: when the caller cannot be asked.
        """
        if self.asking is None:
            raise ExecutionFailed(
                "The tool has to ask its caller for something, which it can only do in a task",
                ErrorDetails(suggestion="Call it with a client that declares the tasks extension"),
            )
        return await self.asking(requests)


@dataclass(frozen=True, slots=True)
class BackendResult:
    """What a backend gave back. `data` is any JSON value."""

    data: Any
    meta: Mapping[str, Any] = field(default_factory=dict)
