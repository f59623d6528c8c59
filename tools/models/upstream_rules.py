"""What upstream servers must satisfy, and what of their settings an operator is warned about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q

from tools.models.http_rules import header_faults
from tools.upstreams import Era, UpstreamTransport
from tools.upstreams.values import RESERVED_HEADERS

LONGEST_SECONDS: Final = 60
MOST_RETRIES: Final = 5
LONGEST_IDLE: Final = 7 * 24 * 3600
LARGEST_MEMORY: Final = 1 << 20
LONGEST_RECOVERY: Final = 3600
MOST_FAILURES: Final = 1000
LONGEST_REMOTE_NAME: Final = 500

TRANSPORTS: Final = (
    (UpstreamTransport.STDIO.value, "stdio: a program on this machine"),
    (UpstreamTransport.STREAMABLE_HTTP.value, "Streamable HTTP"),
    (UpstreamTransport.SSE.value, "HTTP+SSE (older servers)"),
    (UpstreamTransport.WEBSOCKET.value, "WebSocket"),
)
# What other systems call the same thing.
TRANSPORT_ALIASES: Final[Mapping[str, str]] = {
    "http-sse": UpstreamTransport.SSE.value,
    "streamable-http": UpstreamTransport.STREAMABLE_HTTP.value,
}
ERAS: Final = (
    (Era.AUTO.value, "Find out by asking"),
    (Era.MODERN.value, "2026-07-28 and later: requests without a session"),
    (Era.HANDSHAKE.value, "Up to 2025-11-25: sessions that begin with initialize"),
)
_SCHEMES: Final[Mapping[str, tuple[str, ...]]] = {
    UpstreamTransport.SSE.value: ("http", "https"),
    UpstreamTransport.STREAMABLE_HTTP.value: ("http", "https"),
    UpstreamTransport.WEBSOCKET.value: ("ws", "wss"),
}
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_STDIO: Final = Q(transport=UpstreamTransport.STDIO.value)

SERVER_CONSTRAINTS: Final = (
    models.CheckConstraint(
        condition=Q(transport__in=[value for value, _ in TRANSPORTS]),
        name="upstream_transport_known",
    ),
    models.CheckConstraint(
        condition=(_STDIO & ~Q(command="") & Q(url="")) | (~_STDIO & Q(command="") & ~Q(url="")),
        name="upstream_has_command_or_url",
    ),
    models.CheckConstraint(
        condition=Q(connect_timeout__range=(1, LONGEST_SECONDS)),
        name="upstream_connect_timeout_range",
    ),
    models.CheckConstraint(
        condition=Q(call_timeout__range=(1, LONGEST_SECONDS)), name="upstream_call_timeout_range"
    ),
    models.CheckConstraint(condition=Q(retries__lte=MOST_RETRIES), name="upstream_retries_range"),
    models.CheckConstraint(
        condition=Q(failure_threshold__gte=1, recovery_timeout__gte=1),
        name="upstream_breaker_above_0",
    ),
)


def way_faults(transport: str, command: str, url: str) -> dict[str, list[str]]:
    """Whether a server has what its transport needs, by field."""
    faults: dict[str, list[str]] = {}
    if transport == UpstreamTransport.STDIO:
        if not command:
            faults["command"] = ["A stdio server needs a command."]
        if url:
            faults["url"] = ["A stdio server has no address; leave this empty."]
    else:
        if not url:
            faults["url"] = ["A server that is reached over the network needs an address."]
        if command:
            faults["command"] = ["Only a stdio server has a command; leave this empty."]
    return faults


def address_warning(transport: str, url: str) -> str:
    """Why an address is not likely to work; empty when it looks right. Nothing is refused for it."""
    schemes = _SCHEMES.get(transport)
    if schemes is None or not url:
        return ""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as fault:
        return f"The address does not look right: {fault}."
    if parts.scheme not in schemes or not host or port == 0:
        return f"The address does not look right: expected {schemes[0]}:// or {schemes[1]}:// and a host."
    if parts.username is not None or parts.password is not None:
        return "The address holds a name or a password, which everybody can read here; use headers."
    if any(character.isspace() or not character.isprintable() for character in url):
        return "The address does not look right: it has spaces or control characters."
    return ""


def secret_header_faults(headers: Any) -> list[str]:
    """What is wrong with the headers of a server, without a word of their values."""
    if not isinstance(headers, Mapping):
        return ['Must be a JSON object of texts, such as {"Authorization": "Bearer ..."}.']
    reserved = [name for name in headers if str(name).lower() in RESERVED_HEADERS]
    return header_faults({name: headers[name] for name in headers if name not in reserved}) + [
        f"{name} is set by the client itself." for name in reserved
    ]


def environment_faults(environment: Any) -> list[str]:
    """What is wrong with variables for a child process, without a word of their values."""
    if not isinstance(environment, Mapping):
        return ['Must be a JSON object of texts, such as {"API_KEY": "..."}.']
    faults = []
    for name, value in environment.items():
        if not _VARIABLE.fullmatch(str(name)):
            faults.append(f"{name!r} is not the name of a variable.")
        elif not isinstance(value, str) or "\0" in value:
            faults.append(f"{name} must be a text.")
    return faults
