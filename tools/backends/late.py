"""The backend of HTTP APIs, loaded with the first call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.backends.base import Backend
from tools.backends.registry import registry
from tools.contracts import BackendResult, CallContext, ToolSource, ToolSpec


class LateBackend:
    """A process that never calls an HTTP API carries no HTTP client."""

    def __init__(self) -> None:
        self._loaded: Backend | None = None

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        if self._loaded is None:
            from tools.backends.http_api.backend import HttpApiBackend

            self._loaded = HttpApiBackend()
        return await self._loaded.call(spec, arguments, context)


def register_http_apis() -> None:
    """Let operations of HTTP APIs be called."""
    registry.register(ToolSource.HTTP_API, LateBackend())
