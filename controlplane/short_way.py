"""A way past the routing and the middleware for the few addresses that take most of the load.

What the middleware does there is for browsers alone, and these say their origin: they take the long way.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send


class ShortWay:
    """Serves requests of programs at the addresses in `doors`, and leaves all others to `app`."""

    def __init__(self, app: ASGIApp, doors: Mapping[str, ASGIApp]) -> None:
        self._app = app
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = self._doors.get(scope["path"]) if scope["type"] == "http" else None
        if door is None or b"origin" in dict(scope["headers"]):
            door = self._app
        await door(scope, receive, send)
