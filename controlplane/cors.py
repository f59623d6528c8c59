"""Cross-origin access to the REST and MCP doors, following the configuration while the process runs."""

from __future__ import annotations

from typing import Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from tools.conf import ServiceSettings
from tools.errors import Starting
from tools.execution.runtime import current
from tools.oauth.metadata import WELL_KNOWN

LOCALHOST: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"

ALLOWED_HEADERS: Final = [
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "Mcp-Method",
    "Mcp-Name",
    "MCP-Protocol-Version",
    "Mcp-Session-Id",
    "X-API-Key",
    "X-Correlation-ID",
    "X-Request-ID",
    "X-Thread-ID",
]
EXPOSED_HEADERS: Final = ["Mcp-Session-Id", "Retry-After", "WWW-Authenticate", "X-Request-ID"]


class ConfiguredCors:
    """Browsers on localhost, and on the origins the operator added, may call the REST and MCP doors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._built_for: tuple[bool, tuple[str, ...]] | None = None
        self._serving: ASGIApp = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # What is public to every origin answers browsers by itself.
        if scope["type"] != "http" or scope["path"].startswith(WELL_KNOWN):
            await self._app(scope, receive, send)
            return
        await self._configured()(scope, receive, send)

    def _configured(self) -> ASGIApp:
        try:
            settings = current().settings
        except Starting:
            settings = ServiceSettings()
        wanted = (settings.cors_enabled, settings.cors_allowed_origins)
        if wanted != self._built_for:
            self._serving = self._build(*wanted)
            self._built_for = wanted
        return self._serving

    def _build(self, enabled: bool, origins: tuple[str, ...]) -> ASGIApp:
        if not enabled:
            return self._app
        return CORSMiddleware(
            self._app,
            allow_origins=list(origins),
            allow_origin_regex=LOCALHOST,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=ALLOWED_HEADERS,
            expose_headers=EXPOSED_HEADERS,
            max_age=600,
        )
