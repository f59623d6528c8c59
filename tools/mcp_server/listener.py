"""How a process that serves MCP alone is told what to serve: the MCP_* variables, typed and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from typing_extensions import override

from tools.conf import LOOPBACK, check_host
from tools.contracts import Transport
from tools.mcp_server.app import SSE, STREAMABLE, WEBSOCKET

LOWEST_PORT: Final = 1024
HIGHEST_PORT: Final = 65535
MOST_CONNECTIONS: Final = 100_000

# Name, type, default and meaning of each variable, as docs/reference/settings.md lists them.
VARIABLES: Final = (
    (
        "MCP_TRANSPORT",
        "`stdio`, `http-sse` (or `sse`), `websocket`, `streamable_http`, `both`",
        "`stdio`",
        "What to serve. `both` is stdio and HTTP/SSE in one process. Case does not matter.",
    ),
    (
        "MCP_PORT",
        f"whole number, {LOWEST_PORT} to {HIGHEST_PORT}",
        "unset",
        "Port to listen on. Required for all but stdio, where it must be unset.",
    ),
    (
        "MCP_HOST",
        "address",
        "`127.0.0.1`",
        "Address to listen on. Beyond this machine API keys must be on.",
    ),
    (
        "MCP_MAX_CONNECTIONS",
        f"whole number, 1 to {MOST_CONNECTIONS}",
        "unset",
        "Most clients at once, per transport. Unset: mcp.max_connections of the service.",
    ),
    (
        "MCP_TOOLSET",
        "slug",
        "unset",
        "Serve this toolset alone. Unset: all that a caller was granted.",
    ),
    (
        "CONTROL_PLANE_KEY",
        "API key",
        "unset",
        "Whom a stdio client calls as. Unset: the operator of this machine. Also read by mcp_stdio.",
    ),
)


class TransportType(StrEnum):
    """What a listener serves. Read from text without regard to case; `http-sse` means `sse`."""

    STDIO = Transport.STDIO.value
    SSE = Transport.SSE.value
    STREAMABLE_HTTP = Transport.STREAMABLE_HTTP.value
    WEBSOCKET = Transport.WEBSOCKET.value
    BOTH = "both"

    @classmethod
    @override
    def _missing_(cls, value: object) -> TransportType | None:
        name = str(value).strip().lower()
        name = {"http-sse": "sse", "streamable-http": "streamable_http"}.get(name, name)
        return next((member for member in cls if member.value == name), None)

    @property
    def has_stdio(self) -> bool:
        return self in {TransportType.STDIO, TransportType.BOTH}

    @property
    def network(self) -> Transport | None:
        """Its door on the network; None for stdio, which has none."""
        if self is TransportType.BOTH:
            return Transport.SSE
        return None if self is TransportType.STDIO else Transport(self.value)


PATHS: Final = {
    Transport.SSE: SSE,
    Transport.STREAMABLE_HTTP: STREAMABLE,
    Transport.WEBSOCKET: WEBSOCKET,
}
PORTS: Final = f"a whole number from {LOWEST_PORT} to {HIGHEST_PORT}"
COUNTS: Final = f"a whole number from 1 to {MOST_CONNECTIONS}"
VALID: Final = "stdio, http-sse (or sse), websocket, streamable_http, both"


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """What one listener serves and where. Checked when built: a ValueError names the variable."""

    transport: TransportType = TransportType.STDIO
    port: int | None = None
    host: str = "127.0.0.1"
    max_connections: int | None = None
    toolset: str = ""

    def __post_init__(self) -> None:
        if self.transport is TransportType.STDIO:
            if self.port is not None:
                raise ValueError("MCP_PORT must be unset with MCP_TRANSPORT=stdio")
        elif self.port is None:
            raise ValueError(f"MCP_PORT is required with MCP_TRANSPORT={self.transport}")
        elif not LOWEST_PORT <= self.port <= HIGHEST_PORT:
            raise ValueError(f"MCP_PORT must be {PORTS}; got {self.port}")
        try:
            check_host(self.host)
        except ValueError as fault:
            raise ValueError(f"MCP_HOST {fault}; got {self.host!r}") from None
        most = self.max_connections
        if most is not None and not 1 <= most <= MOST_CONNECTIONS:
            raise ValueError(f"MCP_MAX_CONNECTIONS must be {COUNTS}; got {most}")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> TransportSettings:
        """The settings in `environ`; an empty value counts as unset.

        Raises:
            ValueError: naming the variable and what it takes.
        """
        given = {name: environ.get(name, "").strip() for name, *_ in VARIABLES}
        try:
            transport = TransportType(given["MCP_TRANSPORT"] or TransportType.STDIO)
        except ValueError:
            raise ValueError(
                f"MCP_TRANSPORT must be one of {VALID}; got {given['MCP_TRANSPORT']!r}"
            ) from None
        return cls(
            transport=transport,
            port=_number("MCP_PORT", given, PORTS),
            host=given["MCP_HOST"] or "127.0.0.1",
            max_connections=_number("MCP_MAX_CONNECTIONS", given, COUNTS),
            toolset=given["MCP_TOOLSET"],
        )

    @property
    def path(self) -> str:
        """Where the network door is; empty when there is none."""
        door = self.transport.network
        return PATHS[door] if door else ""

    @property
    def reachable_from_network(self) -> bool:
        return self.port is not None and self.host not in LOOPBACK


def _number(name: str, given: Mapping[str, str], expected: str) -> int | None:
    text = given[name]
    if not text:
        return None
    if not re.fullmatch(r"-?[0-9]{1,12}", text):
        raise ValueError(f"{name} must be {expected}; got {text!r}")
    return int(text)
