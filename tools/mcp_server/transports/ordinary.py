"""Tells the ordinary messages of Streamable HTTP from all others.

Most traffic is plain: a call that asks for no progress and no task, or the first page of the
tools. Such a message needs none of the SDK's machinery; `direct.py` serves it. This module lets
a message through only when every part of it is known and sound. Whatever else it may be,
refusals included, is the SDK's to judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from tools.errors import MalformedRequest
from tools.mcp_server.messages import decoded
from tools.tracing import TRACE_HEADERS

CALL: Final = "tools/call"
LIST: Final = "tools/list"
SESSION: Final = "mcp-session-id"

_READ: Final = {
    name.encode(): name
    for name in (
        *("accept", "content-type", SESSION),
        *(MCP_METHOD_HEADER, MCP_NAME_HEADER, MCP_PROTOCOL_VERSION_HEADER),
        *TRACE_HEADERS,
    )
}
_PARAM_PREFIX: Final = MCP_PARAM_HEADER_PREFIX.lower().encode()
_MEMBERS: Final = {"jsonrpc", "id", "method", "params"}
_OF_CALL: Final = {"name", "arguments", "_meta"}
_OUR_META: Final = {"request_id", "correlation_id", "thread_id", *TRACE_HEADERS}
_MODERN_META: Final = {
    *_OUR_META,
    PROTOCOL_VERSION_META_KEY,
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
}
_CAPABILITIES: Final = {"elicitation", "roots", "sampling"}
_INFO: Final = {"name", "version", "title"}


@dataclass(frozen=True, slots=True)
class Ordinary:
    """A message with nothing unusual about it."""

    method: str
    version: str
    id: str | int
    name: str
    arguments: Mapping[str, Any]
    meta: Mapping[str, Any]
    session: str
    headers: Mapping[str, str]

    @property
    def modern(self) -> bool:
        return self.version in MODERN_PROTOCOL_VERSIONS

    @property
    def takes_questions(self) -> bool:
        """Whether questions to its user are an answer that the client can do something with."""
        return self.modern and "elicitation" in self.meta[CLIENT_CAPABILITIES_META_KEY]


def ordinary(raw_headers: list[tuple[bytes, bytes]], body: bytes) -> Ordinary | None:
    """The message, if it is ordinary."""
    headers = _headers(raw_headers)
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER, "") if headers else ""
    modern = version in MODERN_PROTOCOL_VERSIONS
    if headers is None or not (modern or version in HANDSHAKE_PROTOCOL_VERSIONS):
        return None
    message = _message(body)
    if message is None:
        return None
    method, params = message["method"], message["params"]
    meta, name = params.get("_meta", {}), params.get("name", "")
    sound = _modern_meta(meta, version) if modern else _plain_meta(meta)
    routed = not modern or (
        headers.get(MCP_METHOD_HEADER) == method and headers.get(MCP_NAME_HEADER, "") == name
    )
    if not sound or not routed:
        return None
    arguments, session = params.get("arguments", {}), headers.get(SESSION, "")
    return Ordinary(method, version, message["id"], name, arguments, meta, session, headers)


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str] | None:
    """The headers that matter; None when one comes twice or says something unusual."""
    found: dict[str, str] = {}
    for name, value in raw:
        known = _READ.get(name)
        if known is None:
            if name.startswith(_PARAM_PREFIX):
                return None
            continue
        if known in found:
            return None
        found[known] = value.decode("latin-1")
    accepted = found.get("accept", "")
    streams = "application/json" in accepted and "text/event-stream" in accepted
    typed = found.get("content-type", "").startswith("application/json")
    return found if streams and typed and ";q=0" not in accepted.replace(" ", "") else None


def _message(body: bytes) -> dict[str, Any] | None:
    """A call or a first listing as JSON-RPC has it."""
    try:
        message = decoded(body)
    except MalformedRequest:
        return None
    if not isinstance(message, dict) or message.keys() != _MEMBERS:
        return None
    number, params = message["id"], message["params"]
    sound = message["jsonrpc"] == "2.0" and type(number) in {str, int} and isinstance(params, dict)
    allowed = {CALL: _OF_CALL, LIST: {"_meta"}}.get(
        message["method"] if isinstance(message["method"], str) else ""
    )
    if not sound or allowed is None or not params.keys() <= allowed:
        return None
    return message if message["method"] == LIST or _is_call(params) else None


def _is_call(params: dict[str, Any]) -> bool:
    return isinstance(params.get("name"), str) and isinstance(params.get("arguments", {}), dict)


def _plain_meta(meta: Any) -> bool:
    return isinstance(meta, dict) and meta.keys() <= _OUR_META


def _modern_meta(meta: Any, version: str) -> bool:
    """Whether a client of the stateless era says who it is, and asks for nothing beyond."""
    if not isinstance(meta, dict) or not meta.keys() <= _MODERN_META:
        return False
    info = meta.get(CLIENT_INFO_META_KEY, {"name": "", "version": ""})
    named = isinstance(info, dict) and {"name", "version"} <= info.keys() <= _INFO
    return (
        meta.get(PROTOCOL_VERSION_META_KEY) == version
        and named
        and all(isinstance(value, str) for value in info.values())
        and _without_extensions(meta.get(CLIENT_CAPABILITIES_META_KEY))
    )


def _without_extensions(capabilities: Any) -> bool:
    """Whether a client can do nothing that changes how its call is answered."""
    return (
        isinstance(capabilities, dict)
        and capabilities.keys() <= _CAPABILITIES
        and all(isinstance(value, dict) for value in capabilities.values())
    )
