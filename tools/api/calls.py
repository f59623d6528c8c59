"""A `POST /call-tool` body as a ToolCall."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from tools.api.credentials import credentials_of
from tools.api.request_ids import bad_request_id, given_request_id, parse_request_id
from tools.contracts import ToolCall, Transport, usable_id
from tools.errors import ErrorDetails, InvalidArguments, MalformedRequest
from tools.tracing import trace_of

FIELDS = ("tool", "arguments", "request_id")
# What an agent or chat calls the call and the conversation it belongs to.
CORRELATION = "X-Correlation-ID"
THREAD = "X-Thread-ID"


def read_call(request: Request) -> ToolCall:
    """The call a request makes. What is wrong with a call that names a tool travels in its `fault`.

    Raises:
        MalformedRequest: the body is no object or names no tool, so there is no call.
    """
    body = request.data
    if request.META.get("CONTENT_LENGTH", "0") in {"", "0"} and not body:
        raise MalformedRequest(
            "The body is empty", ErrorDetails(expected='{"tool": "...", "arguments": {...}}')
        )
    if not isinstance(body, Mapping):
        raise MalformedRequest(
            "The body must be a JSON object",
            ErrorDetails(expected='{"tool": "...", "arguments": {...}}'),
        )
    tool = body.get("tool")
    if not isinstance(tool, str) or not tool:
        raise InvalidArguments(
            "Invalid parameter: tool",
            ErrorDetails(
                parameter="tool",
                expected="the name of a tool",
                suggestion="Send the name of a tool from GET /tools as tool",
            ),
        )
    request_id, fault = _request_id(body, request)
    arguments = body.get("arguments")
    if not isinstance(arguments, Mapping):
        fault = fault or _bad_arguments(arguments)
        arguments = {}
    unknown = [str(key)[:100] for key in body if key not in FIELDS]
    if unknown and fault is None:
        fault = _unknown_field(unknown[0])
    return ToolCall(
        tool=tool,
        arguments=arguments,
        credentials=credentials_of(request),
        transport=Transport.REST,
        request_id=request_id,
        correlation_id=usable_id(request.headers.get(CORRELATION)),
        thread_id=usable_id(request.headers.get(THREAD)),
        fault=fault,
        trace=trace_of({}, request.headers),
    )


def _request_id(
    body: Mapping[str, Any], request: Request
) -> tuple[uuid.UUID, InvalidArguments | None]:
    """The body's id, else the header's, else a new one; a bad id is replaced and reported."""
    given = body.get("request_id")
    if given is None:
        # Proxies put ids of their own into this header; one that is no UUID is not the caller's fault.
        return given_request_id(request) or uuid.uuid4(), None
    parsed = parse_request_id(given)
    if parsed is None:
        return uuid.uuid4(), bad_request_id(given)
    return parsed, None


def _bad_arguments(value: Any) -> InvalidArguments:
    return InvalidArguments(
        "Invalid parameter: arguments",
        ErrorDetails(
            parameter="arguments",
            value=type(value).__name__ if value is not None else None,
            expected="a JSON object",
            suggestion="Send the tool's arguments as an object, {} when there are none",
        ),
    )


def _unknown_field(name: str) -> InvalidArguments:
    return InvalidArguments(
        f"Invalid parameter: {name}",
        ErrorDetails(
            parameter=name,
            expected="only tool, arguments and request_id",
            suggestion=f"Leave out {name}; the tool's own arguments go into arguments",
        ),
    )
