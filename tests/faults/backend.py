"""The commandable backend: its arguments say what it shall do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tools.contracts import BackendResult, Caller, Deadline, ToolSpec
from tools.errors import ExecutionFailed, TransportFault, UpstreamFailed


class FakeBackend:
    """Answers with its arguments; `delay`, `fail` and `result` in them change that.

    `calls` counts what reached it, by tool, so that tests can tell a cached or refused call.
    """

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.cancelled = 0

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], caller: Caller, deadline: Deadline
    ) -> BackendResult:
        self.calls[spec.name] = self.calls.get(spec.name, 0) + 1
        if delay := arguments.get("delay"):
            try:
                await asyncio.sleep(delay)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        match arguments.get("fail"):
            case "execution":
                raise ExecutionFailed("the tool failed on command")
            case "upstream":
                raise UpstreamFailed("the upstream failed on command")
            case "transport":
                raise TransportFault("the upstream cannot be reached", retry_after=5)
            case "not-json":
                return BackendResult(data={"moment": object()})
            case "bug":
                raise RuntimeError("a secret cause: password=hunter2")
        return BackendResult(data=arguments.get("result", {"echo": dict(arguments)}))
