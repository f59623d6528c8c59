"""What a backend is: the one method the path calls to get the work of a tool done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tools.contracts import BackendResult, CallContext, ToolSpec


class Backend(Protocol):
    """Does the work of the tools of one source.

    `call` raises a `ControlPlaneError` for failures it can name (its `retryable` says whether
    trying again may help); anything else counts as our own bug. It may be cancelled at any await
    and must then leave nothing running. `context.deadline` is the call's own; it never
    sets another.
    """

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult: ...
