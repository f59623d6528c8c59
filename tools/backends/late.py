"""Backends that are loaded with the first call: a process that never calls out carries no client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from tools.backends.base import Backend
from tools.backends.registry import registry
from tools.contracts import BackendResult, CallContext, ToolSource, ToolSpec

if TYPE_CHECKING:
    from tools.backends.upstream.backend import UpstreamBackend


class LateBackend:
    """Stands for the backend that `load` gives."""

    def __init__(self, load: Callable[[], Backend]) -> None:
        self._load = load
        self._loaded: Backend | None = None

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        if self._loaded is None:
            self._loaded = self._load()
        return await self._loaded.call(spec, arguments, context)


def register_http_apis() -> None:
    """Let operations of HTTP APIs be called."""
    registry.register(ToolSource.HTTP_API, LateBackend(_http_apis))


def register_upstreams() -> None:
    """Let tools of upstream MCP servers be called."""
    registry.register(ToolSource.UPSTREAM, LateBackend(upstreams))


def _http_apis() -> Backend:
    from tools.backends.http_api.backend import HttpApiBackend

    return HttpApiBackend()


@cache
def upstreams() -> UpstreamBackend:
    """The backend of upstream MCP servers; one for the process."""
    from tools.backends.upstream.backend import UpstreamBackend

    return UpstreamBackend()
