"""What can go wrong with an MCP server, in the four kinds that are told apart.

    TimeoutError      it did not answer in time
    ConnectionError   it was not there, hung up, or declined at the level of HTTP
    ValueError        its address is none
    RuntimeError      whatever else: it answered something that is not MCP

The SDK wraps what happened in groups of exceptions; `told` unpacks them.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import httpx
from mcp.shared.exceptions import McpError

# What the SDK's client makes of a 404, and of a connection that ended while it waited.
_NOT_FOUND: Final = "Session terminated"
_CLOSED: Final = "Connection closed"
_NO_ADDRESS: Final = (httpx.UnsupportedProtocol, httpx.InvalidURL, OverflowError, UnicodeError)


def told(fault: BaseException) -> Exception:
    """The fault as one of the four kinds, in words for a log."""
    first = _first(fault)
    if isinstance(first, TimeoutError | httpx.TimeoutException):
        return TimeoutError(str(first) or "no answer")
    if isinstance(first, _NO_ADDRESS):
        return ValueError(str(first).rstrip("."))
    if isinstance(first, httpx.HTTPStatusError):
        return ConnectionError(_declined(first.response.status_code))
    if isinstance(first, httpx.TransportError | OSError):
        return ConnectionError(str(first) or type(first).__name__)
    if isinstance(first, McpError) and answered(first) is None:
        missing = first.error.message == _NOT_FOUND
        return ConnectionError(_declined(404) if missing else "the server closed the connection")
    return RuntimeError(f"{type(first).__name__}: {first}")


def answered(fault: BaseException) -> McpError | None:
    """The server's own error, when the fault is that it answered with one."""
    first = _first(fault)
    if isinstance(first, McpError) and first.error.message not in {_NOT_FOUND, _CLOSED}:
        return first
    return None


def shown(url: str) -> str:
    """An address without what may be secret in it."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _first(fault: BaseException) -> BaseException:
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def _declined(status: int) -> str:
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    hints = {
        401: "; MCP_API_KEY holds the key it wants",
        403: "; its key may not do this",
        404: "; is this the address of an MCP endpoint, such as http://127.0.0.1:8000/mcp?",
    }
    return f"it answered {phrase}{hints.get(status, '')}"
