"""The values that travel between the doors, the path and the backends. Frozen, checked when built."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from tools.errors import (
    ControlPlaneError,
    ErrorCode,
    ErrorDetails,
    ExecutionFailed,
    InternalFault,
)


def time_ordered_uuid() -> uuid.UUID:
    """A version 7 UUID: calls sort by arrival, and index pages fill from one end."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & 0xFFFFFFFFFFFF) << 80 | random
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)


class Transport(StrEnum):
    """The door a call came through."""

    REST = "rest"
    STDIO = "stdio"
    SSE = "sse"
    STREAMABLE_HTTP = "streamable_http"
    WEBSOCKET = "websocket"
    ADMIN = "admin"
    CLI = "cli"


class ToolSource(StrEnum):
    """Where a tool's work is done; also the key of its backend in the registry."""

    BUILTIN = "builtin"
    PIPELINE = "pipeline"
    UPSTREAM = "upstream"
    HTTP_API = "http_api"


class CallState(StrEnum):
    """Life of a call in the journal."""

    RECEIVED = "received"
    VALIDATING = "validating"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"


CALL_TRANSITIONS: Final[Mapping[CallState, frozenset[CallState]]] = {
    CallState.RECEIVED: frozenset({CallState.VALIDATING}),
    CallState.VALIDATING: frozenset({CallState.EXECUTING, CallState.FAILED}),
    CallState.EXECUTING: frozenset({CallState.COMPLETED, CallState.FAILED}),
    CallState.COMPLETED: frozenset(),
    CallState.FAILED: frozenset(),
}
FINAL_STATES: Final = frozenset({CallState.COMPLETED, CallState.FAILED})


class IllegalTransition(Exception):
    """A state was asked to follow one it cannot follow."""


def advance(current: CallState, following: CallState) -> CallState:
    """The next state of a call.

    Raises:
        IllegalTransition: when a call in `current` may not become `following`.
    """
    if following not in CALL_TRANSITIONS[current]:
        raise IllegalTransition(f"a call that is {current} cannot become {following}")
    return following


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
class ToolCall:
    """One call as a door understood it.

    `fault` is what the door found wrong while reading a request that is still a call (it names a
    tool); `execute` raises it during validation, so that the refusal is journalled like any other.
    `caller` is who made a call that was accepted earlier and runs now; it stands in for the
    credentials, which are not kept. `time_limit` is how many seconds such a call may take, in place
    of the service's limit for calls that somebody waits for. `askable` has the methods by which the
    caller may be asked for something meanwhile, `asking` does it where that is possible.
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
    call_id: uuid.UUID = field(default_factory=time_ordered_uuid)
    received_at: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the path needs it: one row of the catalogue, checked.

    `binding` is what its backend alone needs to know; no door shows it.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    source: ToolSource
    handler: str
    title: str = ""
    output_schema: Mapping[str, Any] | None = None
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timeout_seconds: float = 30
    max_concurrent: int | None = None
    queue_timeout_seconds: float = 5
    cache_ttl_seconds: int | None = None
    dependency: str = ""
    requires_context_management: bool = False
    token_budget: int = 2000
    preserve_keys: tuple[str, ...] = ()
    keep_body: bool = True
    long_running: bool = False
    binding: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_http(self) -> dict[str, Any]:
        """The tool as `GET /tools` lists it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One thing a prompt asks for. `choices` are suggestions; other values are taken as well."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """The argument as prompts/list shows it."""
        texts = {"title": self.title, "description": self.description}
        return {"name": self.name, **_given(texts), "required": self.required}


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt as callers get it. Texts of `messages` hold `{argument}` placeholders."""

    name: str
    messages: tuple[Mapping[str, Any], ...]
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        """The prompt as prompts/list shows it."""
        return {
            "name": self.name,
            **_given({"title": self.title, "description": self.description}),
            "arguments": [argument.to_wire() for argument in self.arguments],
        }


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A resource as callers get it: one text or blob (base64), or a template for many texts.

    `uri` of a template holds `{name}` for each of its `variables`, and so may its text; `choices`
    suggests values for them.
    `size` is that of the raw content in bytes; None for templates, whose texts differ.
    """

    uri: str
    name: str
    text: str = field(default="", repr=False)
    blob: str = field(default="", repr=False)
    is_template: bool = False
    title: str = ""
    description: str = ""
    mime_type: str = ""
    size: int | None = None
    audience: tuple[str, ...] = ()
    priority: float | None = None
    modified_at: datetime | None = None
    variables: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def annotations(self) -> dict[str, Any]:
        """Whom it is for, how much it matters and when it changed, as far as that is known."""
        known: dict[str, Any] = {"audience": list(self.audience)} if self.audience else {}
        if self.priority is not None:
            known["priority"] = self.priority
        if self.modified_at is not None:
            known["lastModified"] = wire_time(self.modified_at)
        return known

    def to_wire(self) -> dict[str, Any]:
        """The resource as resources/list or resources/templates/list shows it."""
        known = {
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "annotations": self.annotations(),
        }
        size = {} if self.size is None else {"size": self.size}
        address = "uriTemplate" if self.is_template else "uri"
        return {address: self.uri, "name": self.name, **_given(known), **size}


@dataclass(frozen=True, slots=True)
class ToolsetSpec:
    """What one toolset grants: names of tools and prompts, addresses of resources.

    With `search_only`, lists show agents the tools that find and call the others instead of them.
    """

    slug: str
    title: str = ""
    description: str = ""
    tools: frozenset[str] = frozenset()
    prompts: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    search_only: bool = False
    oauth_scope: str = ""


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without the keys that have an empty value."""
    return {key: value for key, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools one caller may see, and the same as the bytes of `GET /tools`."""

    service: str
    version: str
    tools: tuple[ToolSpec, ...]
    encoded: bytes = field(repr=False)

    @classmethod
    def of(cls, service: str, version: str, tools: tuple[ToolSpec, ...]) -> ToolListing:
        wire = {"service": service, "version": version, "tools": [tool.to_http() for tool in tools]}
        text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
        return cls(service, version, tools, text.encode("utf-8"))


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
    asked to be told, and costs nothing otherwise. `asking` is there when the call runs as a task.
    """

    caller: Caller
    deadline: Deadline
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    correlation_id: str = ""
    thread_id: str = ""
    progress: Progress | None = field(default=None, repr=False)
    asking: Asking | None = field(default=None, repr=False)
    transport: Transport = Transport.CLI

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


@dataclass(frozen=True, slots=True)
class Envelope:
    """The one shape every answer has."""

    request_id: uuid.UUID
    success: bool
    data: Mapping[str, Any] | None = None
    error: str | None = None
    code: ErrorCode | None = None
    http_status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    failure: ControlPlaneError | None = None
    # `data` as JSON, where it was encoded on the way already.
    encoded: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.request_id.version != 4:
            raise ValueError("request_id must be a version 4 UUID")
        if self.success and (self.data is None or self.error or self.code):
            raise ValueError("a success has data and neither error nor code")
        if not self.success and (not self.error or self.code is None or self.data is not None):
            raise ValueError("a failure has error and code and no data")
        elapsed = self.meta.get("execution_time_ms", 0)
        if type(elapsed) is not int or elapsed < 0:
            raise ValueError("execution_time_ms must be a whole number, not negative")

    def to_wire(self) -> dict[str, Any]:
        """The envelope as JSON; keys without a value are left out."""
        wire: dict[str, Any] = {"success": self.success}
        if self.success:
            wire["data"] = self.data
        else:
            wire["error"] = self.error
            wire["code"] = str(self.code)
        wire["request_id"] = str(self.request_id)
        wire["timestamp"] = wire_time(self.timestamp)
        if self.meta:
            wire["meta"] = dict(self.meta)
        return wire

    def to_bytes(self) -> bytes:
        """The envelope as the bytes of a JSON answer, without encoding `data` a second time."""
        wire = self.to_wire()
        if self.encoded is None:
            return json.dumps(wire, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        del wire["data"], wire["success"]
        rest = json.dumps(wire, separators=(",", ":"))
        return f'{{"success":true,"data":{self.encoded},{rest[1:]}'.encode()


def failure_envelope(
    error: ControlPlaneError, request_id: uuid.UUID, meta: Mapping[str, Any] | None = None
) -> Envelope:
    """The answer that tells a caller about `error`."""
    details = error.details.to_wire()
    return Envelope(
        request_id=request_id,
        success=False,
        error=error.message,
        code=error.code,
        http_status=error.http_status,
        headers=error.headers,
        meta={**(meta or {}), **({"details": details} if details else {})},
        failure=error,
    )


def internal_failure(request_id: uuid.UUID) -> Envelope:
    """The answer for a fault nobody foresaw; its cause is in the log under the request id."""
    return failure_envelope(InternalFault(), request_id)


class ServiceState(StrEnum):
    """Life of a serving process."""

    INITIALIZING = "INITIALIZING"
    HEALTHY = "HEALTHY"
    DEGRADED = "DEGRADED"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    STOPPED = "STOPPED"


SERVICE_TRANSITIONS: Final[Mapping[ServiceState, frozenset[ServiceState]]] = {
    ServiceState.INITIALIZING: frozenset({ServiceState.HEALTHY, ServiceState.DEGRADED}),
    ServiceState.HEALTHY: frozenset({ServiceState.DEGRADED}),
    ServiceState.DEGRADED: frozenset({ServiceState.HEALTHY}),
    ServiceState.SHUTTING_DOWN: frozenset({ServiceState.STOPPED}),
    ServiceState.STOPPED: frozenset(),
}


def next_service_state(current: ServiceState, following: ServiceState) -> ServiceState:
    """The next state of a serving process; any living one may start to shut down.

    Raises:
        IllegalTransition: when `following` may not follow `current`.
    """
    stopping = following is ServiceState.SHUTTING_DOWN and current is not ServiceState.STOPPED
    if following is current or stopping or following in SERVICE_TRANSITIONS[current]:
        return following
    raise IllegalTransition(f"a service that is {current} cannot become {following}")


def wire_time(moment: datetime) -> str:
    """ISO 8601 in UTC with exactly milliseconds, as every timestamp on the wire."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def time_of(call_id: uuid.UUID) -> datetime:
    """When a time-ordered id was made."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=call_id.int >> 80)
