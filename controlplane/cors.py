"""Cross-origin access to the REST door, following the configuration while the process runs."""

from __future__ import annotations

from typing import Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from tools.conf import ServiceSettings
from tools.errors import Starting
from tools.execution.runtime import current

LOCALHOST: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"


class ConfiguredCors:
    """Browsers on localhost, and on the origins the operator added, may call the REST door."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._built_for: tuple[bool, tuple[str, ...]] | None = None
        self._serving: ASGIApp = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
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
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Retry-After"],
            max_age=600,
        )
