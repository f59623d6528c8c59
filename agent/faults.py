"""What can go wrong with an MCP server, in the four kinds that are told apart.

    TimeoutError      it did not answer in time
    ConnectionError   it was not there, hung up, or declined at the level of HTTP
    ValueError        its address is none
    RuntimeError      whatever else: it answered something that is not MCP

The SDK wraps what happened in groups of exceptions; `told` unpacks them.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

import httpx
from mcp.shared.exceptions import McpError

# What the SDK's client makes of a 404, and of a connection that ended while it waited.
_NOT_FOUND: Final = "Session terminated"
_CLOSED: Final = "Connection closed"
# These say what they stumbled over, which may be a password or a key, or nothing to people.
_TELLTALE: Final = (
    (httpx.UnsupportedProtocol, ValueError, "it has to begin with http:// or https://"),
    ((httpx.InvalidURL, OverflowError, UnicodeError), ValueError, "it cannot be read as one"),
    (
        httpx.LocalProtocolError,
        ConnectionError,
        "a header cannot be sent as it is; see MCP_API_KEY and MCP_HEADERS",
    ),
    (httpx.DecodingError, ConnectionError, "it sent what cannot be unpacked"),
)
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")


def told(fault: BaseException) -> Exception:
    """The fault as one of the four kinds, in words for a log."""
    first = _first(fault)
    if isinstance(first, TimeoutError | httpx.TimeoutException):
        return TimeoutError(str(first) or "no answer")
    for kinds, made, words in _TELLTALE:
        if isinstance(first, kinds):
            return made(words)
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
    """An address without what may be secret in it: user, password, query.

    It may be misspelt, so nothing is made of its parts: all up to the last @ goes.
    """
    scheme = _SCHEME.match(url)
    place, *rest = re.split(r"[?#]", url[scheme.end() :] if scheme else url, maxsplit=1)
    if any("@" in one for one in rest):
        return "an address that cannot be shown"
    text = (scheme.group() if scheme else "") + place.rpartition("@")[2]
    return "".join(letter for letter in text if letter.isprintable())


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
