"""A call and its answer as text, for the time between the processes that take, run and read it.

Credentials are no part of it: the caller is written down as known when the call came in.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tools.contracts import Caller, CallerKind, Credentials, Envelope, ToolCall, Transport
from tools.errors import (
    ControlPlaneError,
    ErrorCode,
    ErrorDetails,
    InternalFault,
    ReportedByTool,
)


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call that was accepted, whose caller was known then. `toolset` is what it had asked for."""

    call: ToolCall
    caller: Caller
    toolset: str


def write_call(call: ToolCall, caller: Caller) -> str:
    """`call` without its credentials, and who made it."""
    return json.dumps(
        {
            "tool": call.tool,
            "arguments": call.arguments,
            "transport": call.transport,
            "request_id": str(call.request_id),
            "correlation_id": call.correlation_id,
            "thread_id": call.thread_id,
            "askable": sorted(call.askable),
            "trace": dict(call.trace),
            "toolset": call.credentials.toolset,
            "caller": {
                "kind": caller.kind,
                "identifier": caller.identifier,
                "name": caller.name,
                "rate_per_minute": caller.rate_per_minute,
                "toolsets": None if caller.toolsets is None else sorted(caller.toolsets),
            },
        }
    )


def read_call(text: str) -> StoredCall:
    """The call as it can be run now: arrived just now, its caller known already."""
    values: dict[str, Any] = json.loads(text)
    who = values["caller"]
    toolsets = who["toolsets"]
    caller = Caller(
        kind=CallerKind(who["kind"]),
        identifier=who["identifier"],
        name=who["name"],
        rate_per_minute=who["rate_per_minute"],
        toolsets=None if toolsets is None else frozenset(toolsets),
    )
    call = ToolCall(
        tool=values["tool"],
        arguments=values["arguments"],
        credentials=Credentials(kind=caller.kind, toolset=values["toolset"]),
        transport=Transport(values["transport"]),
        request_id=uuid.UUID(values["request_id"]),
        correlation_id=values["correlation_id"],
        thread_id=values["thread_id"],
        askable=frozenset(values["askable"]),
        trace=values.get("trace", {}),
        caller=caller,
    )
    return StoredCall(call, caller, values["toolset"])


def write_answer(answer: Envelope) -> str:
    """`answer` with all a door needs to show it."""
    failure = answer.failure
    return json.dumps(
        {
            "request_id": str(answer.request_id),
            "success": answer.success,
            "data": answer.data,
            "error": answer.error,
            "code": answer.code,
            "http_status": answer.http_status,
            "headers": dict(answer.headers),
            "meta": dict(answer.meta),
            "timestamp": answer.timestamp.isoformat(),
            "failure": None if failure is None else _write_failure(failure),
            "result": answer.result,
            "media": list(answer.media),
        },
        default=str,
    )


def read_answer(text: str) -> Envelope:
    """The answer that was written."""
    values: dict[str, Any] = json.loads(text)
    code, failure = values["code"], values["failure"]
    return Envelope(
        request_id=uuid.UUID(values["request_id"]),
        success=values["success"],
        data=values["data"],
        error=values["error"],
        code=None if code is None else ErrorCode(code),
        http_status=values["http_status"],
        headers=values["headers"],
        meta=values["meta"],
        timestamp=datetime.fromisoformat(values["timestamp"]),
        failure=None if failure is None else _read_failure(failure),
        result=values.get("result"),
        media=tuple(values.get("media", ())),
    )


def _write_failure(failure: ControlPlaneError) -> dict[str, Any]:
    return {
        "kind": type(failure).__name__,
        "message": failure.message,
        "details": failure.details.to_wire(),
        **({"result": failure.result} if isinstance(failure, ReportedByTool) else {}),
    }


def _read_failure(values: dict[str, Any]) -> ControlPlaneError:
    kinds = {kind.__name__: kind for kind in _kinds(ControlPlaneError)}
    # A worker of another version may know failures that this process does not.
    kind = kinds.get(values["kind"], InternalFault)
    details = values["details"]
    if "available" in details:
        details["available"] = tuple(details["available"])
    # Each kind has a constructor of its own; what they all keep is the same.
    failure = kind.__new__(kind)
    ControlPlaneError.__init__(failure, values["message"], ErrorDetails(**details))
    if isinstance(failure, ReportedByTool):
        failure.result = values.get("result", {})
    return failure


def _kinds(kind: type[ControlPlaneError]) -> Iterator[type[ControlPlaneError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
