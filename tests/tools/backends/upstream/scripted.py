"""MCP servers over HTTP whose every answer a test writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.tools.backends.upstream.raw_http import Asked, RawServer, error, reply, result, serving
from tests.tools.backends.upstream.transports.talk import at
from tools.upstreams import Era, Upstream

MODERN = "2026-07-28"
EVERYTHING: Mapping[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}
SCHEMA = {"type": "object", "properties": {}}

# The result of a request, or the whole answer in bytes.
Answers = Mapping[str, Callable[[Asked], Mapping[str, Any] | bytes] | Mapping[str, Any] | bytes]


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name} things.", "inputSchema": SCHEMA}


def welcome(version: str = "2025-06-18", **changes: Any) -> dict[str, Any]:
    """What a server of the handshake era says first."""
    info = {"name": "scripted", "version": "1"}
    said = {"protocolVersion": version, "capabilities": EVERYTHING, "serverInfo": info}
    return {**said, **changes}


def discovered(**changes: Any) -> dict[str, Any]:
    """What a server of the stateless era says of itself."""
    said = {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": EVERYTHING}
    return {**said, **changes}


@asynccontextmanager
async def scripted(answers: Answers) -> AsyncIterator[RawServer]:
    """A server that answers methods like this, and knows no others."""

    def answer(request: Asked) -> bytes:
        if not request.body or "id" not in request.message:
            return reply(b"", 202)
        found = answers.get(request.message["method"])
        found = found(request) if callable(found) else found
        if found is None:
            return reply(error(request, -32601, "Method not found"))
        return found if isinstance(found, bytes) else reply(result(request, **found))

    async with serving(answer) as server:
        yield server


def reached(server: RawServer, era: Era = Era.AUTO, **changes: Any) -> Upstream:
    return at(server.url, era=era, **changes)


def methods(server: RawServer) -> list[str]:
    """What it was asked, in order."""
    return [one.message["method"] for one in server.asked if one.body]
