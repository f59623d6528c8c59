"""Programs reach the busiest door without the middleware that is for browsers."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from controlplane.short_way import ShortWay

ORIGIN = [(b"origin", b"http://localhost:3000")]


def named(name: str, reached: list[str]) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(name)

    return app


@pytest.mark.parametrize(
    ("scope", "door"),
    [
        ({"type": "http", "path": "/mcp", "headers": []}, "short"),
        ({"type": "http", "path": "/mcp", "headers": ORIGIN}, "long"),
        ({"type": "http", "path": "/mcp/team", "headers": []}, "long"),
        ({"type": "http", "path": "/tools", "headers": []}, "long"),
        ({"type": "websocket", "path": "/mcp", "headers": []}, "long"),
        ({"type": "lifespan"}, "long"),
    ],
)
async def test_only_programs_at_the_address_itself_take_the_short_way(
    scope: dict[str, Any], door: str
) -> None:
    reached: list[str] = []
    way = ShortWay(named("long", reached), {"/mcp": named("short", reached)})

    async def receive() -> Any: ...
    async def send(message: Any) -> None: ...

    await way(scope, receive, send)
    assert reached == [door]
