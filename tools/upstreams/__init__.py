"""Upstream MCP servers as plain values: how one is reached, how its connection fares, what it offers."""

from __future__ import annotations

from tools.upstreams.pinning import Kind, fingerprint, pinned
from tools.upstreams.states import NO_TOOLS, ConnectionReport, ConnectionState, next_state
from tools.upstreams.values import Discovered, Era, Upstream, UpstreamTransport, breaker_name

__all__ = [
    "NO_TOOLS",
    "ConnectionReport",
    "ConnectionState",
    "Discovered",
    "Era",
    "Kind",
    "Upstream",
    "UpstreamTransport",
    "breaker_name",
    "fingerprint",
    "next_state",
    "pinned",
]
