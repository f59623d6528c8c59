"""Every way a call can fail, and how each door shows it.

ControlPlaneError
    InvalidArguments            400  INVALID_ARGUMENTS
        MalformedRequest        400
            InvalidMessage      400
        Unauthenticated         401
            InsufficientScope   403
        ForbiddenOrigin         403
        NotPermitted            403
        MethodNotAllowed        405
        NotAcceptable           406
        Conflict                409
        BodyTooLarge            413
        UnsupportedMediaType    415
    ToolNotFound                404  TOOL_NOT_FOUND
        PathNotFound            404
        PromptNotFound          404
        ResourceNotFound        404
    RateLimited                 429  RATE_LIMITED
        ConcurrencyExceeded     429
    ServiceUnavailable          503  SERVICE_UNAVAILABLE
        Starting                503
        Stopping                503
        BreakerOpen             503
        TransportFault          503
        HeldBack                503
        ConnectionLimitExceeded 503
    DeadlineExceeded            504  TIMEOUT
    ExecutionFailed             500  EXECUTION_ERROR
        ReportedByTool          500
        UpstreamFailed          500
            NsipApiFailed       500
        SummarizationFailed     500
        TokenCountingFailed     500
    InternalFault               500  INTERNAL_ERROR

A class fixes the wire code, the HTTP status, whether MCP reports it as a tool result or as a
protocol error, and whether trying again may help. Nothing else in the project decides a status.
Messages here are written for the caller; the cause of an unexpected fault goes to the log only.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, ClassVar

from typing_extensions import override


class ErrorCode(StrEnum):
    """The closed set of codes a caller may see."""

    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    EXECUTION_ERROR = "EXECUTION_ERROR"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    TIMEOUT = "TIMEOUT"
    RATE_LIMITED = "RATE_LIMITED"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"


class McpKind(StrEnum):
    """Who can act on a failure: the model (a tool result) or the client program (a protocol error)."""

    TOOL = "tool"
    PROTOCOL = "protocol"


class CallStatus(StrEnum):
    """How a call ended, in the words of the tool call context."""

    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"


def whole_characters(text: str) -> str:
    """`text` without halves of surrogate pairs, which JSON can write but UTF-8 cannot."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _sendable(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_sendable(item) for item in value]
    return whole_characters(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """What a model can act on. Fields that are None do not travel."""

    parameter: str | None = None
    value: Any = None
    expected: str | None = None
    suggestion: str | None = None
    retry_after: int | None = None
    available: tuple[str, ...] | None = None
    max: int | None = None
    current: int | None = None

    def to_wire(self) -> dict[str, Any]:
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: _sendable(value) for name, value in pairs if value is not None}


class ControlPlaneError(Exception):
    """A failure with a message for the caller. Raise a subclass."""

    code: ClassVar[ErrorCode] = ErrorCode.INTERNAL_ERROR
    http_status: ClassVar[int] = 500
    mcp_kind: ClassVar[McpKind] = McpKind.TOOL
    mcp_code: ClassVar[int] = -32603
    retryable: ClassVar[bool] = False
    call_status: ClassVar[CallStatus] = CallStatus.FAILURE

    def __init__(self, message: str, details: ErrorDetails | None = None) -> None:
        super().__init__(message)
        self.message = whole_characters(message)
        self.details = details or ErrorDetails()

    @property
    def headers(self) -> dict[str, str]:
        """Extra response headers of the HTTP door."""
        if self.details.retry_after is None:
            return {}
        return {"Retry-After": str(self.details.retry_after)}


class InvalidArguments(ControlPlaneError):
    code = ErrorCode.INVALID_ARGUMENTS
    http_status = 400
    mcp_code = -32602


class MalformedRequest(InvalidArguments):
    """The body is not a request at all: bad JSON, not an object, wrong encoding."""

    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32700


class InvalidMessage(MalformedRequest):
    """JSON, but no message of the MCP door's protocol."""

    mcp_code = -32600


class Unauthenticated(InvalidArguments):
    http_status = 401
    mcp_kind = McpKind.PROTOCOL

    def __init__(
        self,
        message: str,
        details: ErrorDetails | None = None,
        challenge: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, details)
        # What a client of an identity provider needs to know, by the names of RFC 6750 and RFC 9728.
        self.challenge = dict(challenge or {})

    @property
    @override
    def headers(self) -> dict[str, str]:
        parts = {"realm": "control plane", **self.challenge}
        listed = ", ".join(f'{name}="{_quotable(value)}"' for name, value in parts.items())
        return {"WWW-Authenticate": f"Bearer {listed}"}


class InsufficientScope(Unauthenticated):
    """The access token is good, but lacks a scope; the challenge names what is needed."""

    http_status = 403


def _quotable(value: str) -> str:
    """`value` as the inside of a quoted string in a header."""
    return re.sub(r'[^\x20-\x7e]|["\\]', "?", value)


class ForbiddenOrigin(InvalidArguments):
    """A host name that is not ours, or a page on an origin that may not call us."""

    http_status = 403
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600


class NotPermitted(InvalidArguments):
    """A caller who is known, but was not given the right to do this."""

    http_status = 403
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600


class MethodNotAllowed(InvalidArguments):
    http_status = 405
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600

    def __init__(self, method: str, allowed: tuple[str, ...]) -> None:
        listed = ", ".join(allowed)
        super().__init__(
            f"Method {method} is not allowed here",
            ErrorDetails(expected=listed, suggestion=f"Use one of: {listed}"),
        )
        self.allowed = allowed

    @property
    @override
    def headers(self) -> dict[str, str]:
        return {"Allow": ", ".join(self.allowed)}


class NotAcceptable(InvalidArguments):
    http_status = 406
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600


class Conflict(InvalidArguments):
    """Sound, but not as things are: the name is taken, or what is to go is in use."""

    http_status = 409
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600


class BodyTooLarge(InvalidArguments):
    http_status = 413
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600


class UnsupportedMediaType(InvalidArguments):
    http_status = 415
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32600


class ToolNotFound(ControlPlaneError):
    code = ErrorCode.TOOL_NOT_FOUND
    http_status = 404
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32602


class PathNotFound(ToolNotFound):
    """No such address in the HTTP door, no such method in the MCP door."""

    mcp_code = -32601


class PromptNotFound(ToolNotFound):
    """No such prompt, or none for this caller."""


class ResourceNotFound(ToolNotFound):
    """No such resource, or none for this caller. Kept results that expired count as such."""


class RateLimited(ControlPlaneError):
    code = ErrorCode.RATE_LIMITED
    http_status = 429
    mcp_code = -32000
    retryable = True

    def __init__(self, message: str, retry_after: float) -> None:
        seconds = max(1, math.ceil(retry_after))
        super().__init__(
            message,
            ErrorDetails(retry_after=seconds, suggestion=f"Try again in {seconds} s"),
        )


class ConcurrencyExceeded(RateLimited):
    """Every slot of the tool stayed taken for as long as a call may wait."""


class ServiceUnavailable(ControlPlaneError):
    code = ErrorCode.SERVICE_UNAVAILABLE
    http_status = 503
    mcp_code = -32004
    retryable = True

    def __init__(self, message: str, retry_after: float, suggestion: str | None = None) -> None:
        seconds = max(1, math.ceil(retry_after))
        super().__init__(
            message,
            ErrorDetails(retry_after=seconds, suggestion=suggestion or f"Try again in {seconds} s"),
        )


class Starting(ServiceUnavailable):
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32603

    def __init__(self) -> None:
        super().__init__("The service is starting", retry_after=1)


class Stopping(ServiceUnavailable):
    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32603

    def __init__(self) -> None:
        super().__init__("The service is stopping", retry_after=5)


class BreakerOpen(ServiceUnavailable):
    """The dependency failed too often; calls are refused until it is probed again."""


class TransportFault(ServiceUnavailable):
    """The dependency could not be reached."""


class HeldBack(ServiceUnavailable):
    """The tool is not to be called as its server offers it now; the server itself is well."""

    retryable = False

    @classmethod
    def of(cls, name: str, server: str, *, gone: bool = False) -> HeldBack:
        """What `server` offers as `name` is not what was approved."""
        words = "no longer offered by" if gone else "held back: its definition was changed by"
        return cls(
            f"{name} is {words} {server}",
            60,
            "Use another one; an operator has to look at this one",
        )


class ConnectionLimitExceeded(ServiceUnavailable):
    """The listener has as many clients as it may serve at the same time."""

    mcp_kind = McpKind.PROTOCOL
    mcp_code = -32603

    def __init__(self, limit: int, open_now: int) -> None:
        super().__init__(
            f"connection_limit_exceeded: {open_now} of {limit} connections are in use",
            retry_after=30,
        )
        self.details = replace(self.details, max=limit, current=open_now)


class DeadlineExceeded(ControlPlaneError):
    code = ErrorCode.TIMEOUT
    http_status = 504
    mcp_code = -32000
    retryable = True
    call_status = CallStatus.TIMEOUT

    def __init__(self, tool: str, seconds: float) -> None:
        super().__init__(
            f"{tool} did not finish within {seconds:g} s",
            ErrorDetails(
                retry_after=1,
                expected=f"an answer within {seconds:g} s",
                suggestion="Ask for less at once, or try again",
            ),
        )


class ExecutionFailed(ControlPlaneError):
    code = ErrorCode.EXECUTION_ERROR
    http_status = 500
    mcp_code = -32000
    # What the service behind a tool answered, or the seconds it was given in vain: for code that
    # knows the service and puts the failure into its own words. No caller sees them.
    upstream_status: int | None = None
    upstream_seconds: float | None = None


class ReportedByTool(ExecutionFailed):
    """The tool ran and says that it could not do it. `result` is its answer as it wrote it."""

    def __init__(self, message: str, result: Mapping[str, Any]) -> None:
        does = ErrorDetails(suggestion="Do as the tool says, or call it with other arguments")
        super().__init__(message, does)
        self.result = result


class UpstreamFailed(ExecutionFailed):
    """The service behind a tool answered with a failure."""

    retryable = True


class NsipApiFailed(UpstreamFailed):
    """The NSIP API could not answer `method`."""

    def __init__(self, method: str, reason: str) -> None:
        super().__init__(
            f"NSIP API call failed: {method}",
            ErrorDetails(
                parameter="method",
                value=method,
                suggestion=f"Check NSIP API availability and parameters: {reason}",
            ),
        )


class SummarizationFailed(ExecutionFailed):
    mcp_code = -32002


class TokenCountingFailed(ExecutionFailed):
    mcp_code = -32003


class InternalFault(ControlPlaneError):
    """Our own bug. The request id is the caller's handle on the log entry that has the cause."""

    mcp_kind = McpKind.PROTOCOL

    def __init__(self) -> None:
        super().__init__(
            "The control plane failed internally",
            ErrorDetails(suggestion="Report the request_id to the operator"),
        )
