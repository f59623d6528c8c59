"""The commandable backend: its arguments say what it shall do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.faults.failures import failures
from tools.backends.base import Backend
from tools.contracts import BackendResult, CallContext, ToolSpec
from tools.errors import ExecutionFailed, TransportFault, UpstreamFailed


class FakeBackend:
    """Answers with its arguments, but for tools that have an operation, which `usual` serves; `delay`, `fail` and `result` in them change that.
    `fail` may also be the name of a class of errors.py.

    `calls` counts what reached it, by tool, so that tests can tell a cached or refused call.
    `trace` names a file that gets a line for what happens, for tests in another process.
    `reports` makes it tell how far it is before it begins to wait, `asks` ask its caller for texts
    by those names, one after the other. `closing` is how long it takes to stop when cancelled.
    """

    def __init__(self, usual: Backend) -> None:
        self._usual = usual
        self.calls: dict[str, int] = {}
        self.cancelled = 0

    async def call(
        self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext
    ) -> BackendResult:
        if "service" in spec.binding:
            return await self._usual.call(spec, arguments, context)
        self.calls[spec.name] = self.calls.get(spec.name, 0) + 1
        trace = arguments.get("trace")
        _trace(trace, "started")
        if note := arguments.get("reports"):
            await context.report(1, 2, note)
        if names := arguments.get("asks"):
            return BackendResult(data={"given": [await _ask(context, name) for name in names]})
        if delay := arguments.get("delay"):
            await self._wait(delay, trace, arguments.get("closing", 0))
        odd = _commanded(arguments.get("fail"))
        if odd is not None:
            return BackendResult(data=odd)
        return BackendResult(data=arguments.get("result", {"echo": dict(arguments)}))

    async def _wait(self, seconds: float, trace: str | None, closing: float) -> None:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            _trace(trace, "cancelled")
            if closing:
                await asyncio.sleep(closing)
                _trace(trace, "closed")
            raise


def _commanded(fail: str | None) -> Any:
    """Fail as told, or give what no backend should answer; None when nothing was told."""
    match fail:
        case "execution":
            raise ExecutionFailed("the tool failed on command")
        case "upstream":
            raise UpstreamFailed("the upstream failed on command")
        case "transport":
            raise TransportFault("the upstream cannot be reached", retry_after=5)
        case "not-json":
            return {"moment": object()}
        case "half":
            return {"half \ud83d": ["a character \ude00", 10**400]}
        case "half-told":
            raise ExecutionFailed("half \ud83d a character")
        case "bug":
            raise RuntimeError("a secret cause: password=hunter2")
        case str() as name if name in failures():
            raise failures()[name]
    return None


async def _ask(context: CallContext, name: str) -> Any:
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    params = {"mode": "form", "message": f"Which {name}?", "requestedSchema": schema}
    answers = await context.ask({name: {"method": "elicitation/create", "params": params}})
    return answers[name]["content"][name]


def _trace(path: str | None, line: str) -> None:
    if path is not None:
        with Path(path).open("a") as trace:
            trace.write(f"{line}\n")
