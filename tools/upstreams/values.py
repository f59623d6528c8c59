"""How an upstream server is reached, and what it was found to offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from tools.contracts import Transport


def breaker_name(slug: str) -> str:
    """The name of the circuit breaker of a server."""
    return f"mcp:{slug}"


class UpstreamTransport(StrEnum):
    """The ways to an upstream server, in the words of the doors of this service."""

    STDIO = Transport.STDIO.value
    SSE = Transport.SSE.value
    STREAMABLE_HTTP = Transport.STREAMABLE_HTTP.value
    WEBSOCKET = Transport.WEBSOCKET.value


class Era(StrEnum):
    """Which protocol is spoken: found out by asking, stateless requests, or sessions."""

    AUTO = "auto"
    MODERN = "modern"
    HANDSHAKE = "handshake"


# Headers that belong to HTTP itself or to MCP; what an operator wrote there would break requests.
RESERVED_HEADERS: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host"}
    | {"last-event-id", "transfer-encoding", "upgrade"}
    | {"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"}
)


@dataclass(frozen=True, slots=True)
class Upstream:
    """One upstream server as configured.

    Two values that are equal may share a connection. `command` names an entry of the allow-list in
    the settings; `environment` and `headers` are sealed JSON objects of texts, opened by who connects.
    """

    slug: str
    transport: UpstreamTransport
    display_name: str = ""
    command: str = ""
    environment: str = field(default="", repr=False)
    url: str = ""
    headers: str = field(default="", repr=False)
    era: Era = Era.AUTO
    connect_timeout: float = 5.0
    call_timeout: float = 5.0
    retries: int = 3
    connect_at_start: bool = False
    idle_seconds: int = 0
    memory_mb: int = 1024
    allowed_networks: tuple[str, ...] = ()
    unavailable_message: str = ""

    def __post_init__(self) -> None:
        local = self.transport is UpstreamTransport.STDIO
        if local and (not self.command or self.url):
            raise ValueError("a stdio server has a command and no address")
        if not local and (not self.url or self.command):
            raise ValueError("a server that is reached over the network has an address, no command")
        if self.connect_timeout <= 0 or self.call_timeout <= 0:
            raise ValueError("time limits are above 0 seconds")

    @property
    def name(self) -> str:
        """What people call it."""
        return self.display_name or self.slug

    @property
    def left_alone(self) -> str:
        """What callers read while it fails too often to be asked."""
        return self.unavailable_message or f"{self.name} is failing and is left alone for now"

    @property
    def dependency(self) -> str:
        """The name of its circuit breaker."""
        return breaker_name(self.slug)


@dataclass(frozen=True, slots=True)
class Discovered:
    """Everything a server offers, as it wrote it, and how long finding out took.

    `tools_only` says that what it offers beside tools could not be found out.
    """

    protocol_version: str
    server_info: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    prompts: tuple[Mapping[str, Any], ...] = ()
    resources: tuple[Mapping[str, Any], ...] = ()
    templates: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    tools_only: bool = False
