"""Upstream servers for tests: rows that are sound by default, and what one was found to offer."""

from __future__ import annotations

from itertools import count
from typing import Any

from tools.models import UpstreamServer
from tools.upstreams import Discovered

numbers = count(1)


def make_upstream(**overrides: Any) -> UpstreamServer:
    """A saved server."""
    values = {"slug": f"server-{next(numbers)}", "url": "https://mcp.example.org/mcp", **overrides}
    server = UpstreamServer(**values)
    server.save()
    return server


def definition(name: str, **overrides: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    return {
        "name": name,
        "description": f"Does what {name} says it does.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        **overrides,
    }


def offers(*tools: Any, **overrides: Any) -> Discovered:
    """What a server was found to offer; a text stands for a plain tool of that name."""
    listed = tuple(definition(one) if isinstance(one, str) else one for one in tools)
    values = {"protocol_version": "2025-11-25", "server_info": {"name": "x", "version": "1"}}
    return Discovered(**{**values, "tools": listed, **overrides})
