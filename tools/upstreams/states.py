"""The life of a connection to an upstream server, and how other systems name its states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from tools.contracts import IllegalTransition, wire_time
from tools.upstreams.values import UpstreamTransport


class ConnectionState(StrEnum):
    """Where a connection is in its life."""

    NOT_CONFIGURED = "not_configured"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    DEGRADED = "degraded"
    FAILED = "failed"
    SHUTTING_DOWN = "shutting_down"
    DISCONNECTED = "disconnected"


_S = ConnectionState
TRANSITIONS: Final[Mapping[ConnectionState, frozenset[ConnectionState]]] = {
    _S.NOT_CONFIGURED: frozenset({_S.CONNECTING}),
    _S.CONNECTING: frozenset({_S.CONNECTED, _S.DEGRADED, _S.FAILED}),
    _S.CONNECTED: frozenset({_S.DEGRADED, _S.CONNECTING, _S.FAILED}),
    _S.DEGRADED: frozenset({_S.CONNECTED, _S.CONNECTING, _S.FAILED}),
    _S.FAILED: frozenset({_S.CONNECTING}),
    _S.SHUTTING_DOWN: frozenset({_S.DISCONNECTED}),
    # Given up for having nothing to do; the next call connects again.
    _S.DISCONNECTED: frozenset({_S.CONNECTING}),
}
# The three states that an orchestrator of agents knows.
ORCHESTRATOR: Final[Mapping[ConnectionState, str]] = {
    **dict.fromkeys(_S, "disconnected"),
    _S.CONNECTED: "connected",
    _S.DEGRADED: "degraded",
}
# The four that a chat agent knows.
AGENT: Final[Mapping[ConnectionState, str]] = {
    _S.NOT_CONFIGURED: "not_configured",
    _S.CONNECTING: "connecting",
    _S.CONNECTED: "connected",
    _S.DEGRADED: "connected",
    _S.FAILED: "failed",
    _S.SHUTTING_DOWN: "failed",
    _S.DISCONNECTED: "failed",
}
# Those of a served service.
SERVICE: Final[Mapping[ConnectionState, str]] = {
    _S.NOT_CONFIGURED: "STOPPED",
    _S.CONNECTING: "INITIALIZING",
    _S.CONNECTED: "HEALTHY",
    _S.DEGRADED: "DEGRADED",
    _S.FAILED: "DEGRADED",
    _S.SHUTTING_DOWN: "SHUTTING_DOWN",
    _S.DISCONNECTED: "STOPPED",
}
LIVE: Final = frozenset({_S.CONNECTED, _S.DEGRADED})
# What is said of a server that offers no tool.
NO_TOOLS: Final = "No MCP tools available"
# The hash in Redis that each process tells its state in, and how long that is remembered.
STATE_KEY: Final = "cp:upstream:{slug}"
STATE_SECONDS: Final = 120


def next_state(current: ConnectionState, following: ConnectionState) -> ConnectionState:
    """The next state of a connection; any may begin to shut down.

    Raises:
        IllegalTransition: when `following` may not follow `current`.
    """
    stopping = following is _S.SHUTTING_DOWN and current is not _S.DISCONNECTED
    if following is current or stopping or following in TRANSITIONS[current]:
        return following
    raise IllegalTransition(f"a connection that is {current} cannot become {following}")


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """A connection at one moment, as one process has it.

    `process_handle` is the child's process id; a live stdio connection has one, others never do.
    `last_health_check` is when the server last answered one; failed checks leave it alone.
    """

    server_name: str
    transport_type: UpstreamTransport
    connection_state: ConnectionState
    discovered_tools: tuple[str, ...] = ()
    initialization_time: float = 0.0
    last_health_check: datetime | None = None
    process_handle: int | None = None
    protocol_version: str = ""
    failures: int = 0
    error: str = ""
    since: datetime | None = None

    def __post_init__(self) -> None:
        if not self.server_name:
            raise ValueError("a connection has the name of its server")
        if self.initialization_time < 0:
            raise ValueError("initialization_time must not be negative")
        local = self.transport_type is UpstreamTransport.STDIO
        if local and self.connection_state in LIVE and self.process_handle is None:
            raise ValueError("a live stdio connection has a process")
        if not local and self.process_handle is not None:
            raise ValueError("only a stdio connection has a process")

    def to_wire(self) -> dict[str, Any]:
        """The report as JSON, with the names other systems have for its state."""
        return {
            "server_name": self.server_name,
            "transport_type": self.transport_type.value,
            "connection_state": ORCHESTRATOR[self.connection_state],
            "lifecycle": self.connection_state.value,
            "agent_state": AGENT[self.connection_state],
            "service_state": SERVICE[self.connection_state],
            "discovered_tools": list(self.discovered_tools),
            "initialization_time": round(self.initialization_time, 3),
            "last_health_check": _written(self.last_health_check),
            "process_handle": self.process_handle,
            "protocol_version": self.protocol_version,
            "failures": self.failures,
            "error": self.error,
            "since": _written(self.since),
        }


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else wire_time(moment)
