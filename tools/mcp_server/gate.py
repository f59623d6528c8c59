"""What every network door of MCP checks before the SDK sees a message: host, origin, caller, room."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from starlette.types import Receive, Scope, Send

from tools.contracts import CallerKind, Credentials, Transport
from tools.errors import (
    ControlPlaneError,
    ErrorDetails,
    ForbiddenOrigin,
    Stopping,
)
from tools.execution import identity
from tools.execution.runtime import serving
from tools.mcp_server.failures import error_body
from tools.mcp_server.peer import Peer

_LOCAL_ORIGIN: Final = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?\Z")


def trimmed(scope: Scope) -> Scope:
    """`scope` with blanks around header values gone; the HTTP parser leaves those at their end."""
    scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
    return scope


def headers_in(scope: Scope) -> dict[bytes, bytes]:
    """The headers by their names; of one that comes twice the first counts."""
    return dict(reversed(scope["headers"]))


async def peer_of(scope: Scope, transport: Transport) -> Peer:
    """Who is calling.

    Raises:
        ControlPlaneError: wrong host or origin, unknown caller or toolset, or not serving now.
    """
    headers = headers_in(scope)
    check_host(_text(headers, b"host"))
    runtime = serving()
    check_origin(headers, runtime.settings.cors_enabled, runtime.settings.cors_allowed_origins)
    credentials = credentials_in(scope, headers)
    await identity.prepare(credentials)
    # Asked last: what is let in after a stop has begun would not be told to end.
    if runtime.stopping:
        raise Stopping
    caller = identity.identify(credentials, runtime.directory.catalogue)
    return Peer(credentials, transport, caller)


def check_host(host: str) -> None:
    """Refuse names that are not ours: a page that rebinds its own name must not reach us."""
    if not _is_ours(host, tuple(settings.ALLOWED_HOSTS or ("localhost", "127.0.0.1", "[::1]"))):
        raise ForbiddenOrigin(
            "This service does not answer to that host name",
            ErrorDetails(
                parameter="Host",
                value=host[:200],
                suggestion="Use a name from ALLOWED_HOSTS, or add this one there",
            ),
        )


@lru_cache(maxsize=256)
def _is_ours(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def check_origin(
    headers: Mapping[bytes, bytes], cors_enabled: bool, allowed: Iterable[str]
) -> None:
    """Refuse browsers on pages that are neither ours nor allowed. Other programs send no origin."""
    origin = _text(headers, b"origin")
    if not origin:
        return
    same = _place(origin) == _text(headers, b"host")
    other = cors_enabled and (_LOCAL_ORIGIN.match(origin) or origin in allowed)
    if not (same or other):
        raise ForbiddenOrigin(
            "Pages of that origin may not call this service",
            ErrorDetails(
                parameter="Origin",
                value=origin[:200],
                suggestion="Ask the operator to add it to cors.allowed_origins",
            ),
        )


def _place(origin: str) -> str | None:
    """Host and port of an origin; None when it is no address at all."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def credentials_in(scope: Scope, headers: Mapping[bytes, bytes]) -> Credentials:
    """The key of `Authorization: Bearer` or `X-API-Key`, and the toolset of the address."""
    scheme, _, value = _text(headers, b"authorization").partition(" ")
    secret = value.strip() if scheme.lower() == "bearer" else ""
    secret = secret or _text(headers, b"x-api-key").strip()
    client = scope.get("client")
    return Credentials(
        kind=CallerKind.API_KEY if secret else CallerKind.ANONYMOUS,
        secret=secret,
        address=client[0] if client else "",
        toolset=scope.get("path_params", {}).get("toolset", ""),
    )


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")


def refusal(error: ControlPlaneError) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body of an answer that turns a client away."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "error": error_body(error)}
    encoded = json.dumps(body, ensure_ascii=False).encode()
    fields = {**error.headers, "content-type": "application/json", "content-length": len(encoded)}
    headers = [(name.lower().encode(), str(value).encode()) for name, value in fields.items()]
    return error.http_status, headers, encoded


async def refuse(error: ControlPlaneError, scope: Scope, receive: Receive, send: Send) -> None:
    """Turn a client away, over HTTP or before a WebSocket is open."""
    status, headers, body = refusal(error)
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": body})
        return
    await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
