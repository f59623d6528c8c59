"""Calls of built-in tools, and a process whose figures are known."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.backends.builtin import BUILTINS, BuiltinBackend
from tools.contracts import CallContext, Caller, CallerKind, Deadline, ToolSource, ToolSpec

CALLER = Caller(CallerKind.LOCAL, "local:test", "test", rate_per_minute=1000)
WIRE_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


async def call(name: str, caller: Caller = CALLER, **arguments: Any) -> Any:
    """What the backend answers."""
    tool = BUILTINS[name]
    spec = ToolSpec(name, tool.description, tool.input_schema, ToolSource.BUILTIN, name)
    result = await BuiltinBackend().call(spec, arguments, CallContext(caller, Deadline.after(30)))
    return result.data


def live(**values: Any) -> dict[str, Any]:
    """What a serving process knows of itself."""
    return {
        "started_at": datetime.now(UTC) - timedelta(seconds=90),
        "startup_seconds": 1.25,
        "state": "HEALTHY",
        "in_flight": 2,
        "peak_in_flight": 7,
        "current_connections": 3,
        "peak_connections": 50,
        "discovery_times": (0.01, 0.5),
        "long_running_updates_sent": 4,
        "redis_available": True,
        "catalogue_version": 12,
        "tools": 4,
        **values,
    }
