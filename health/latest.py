"""The latest report, where every process finds it: in Redis, or with it away in the database."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import orjson

from health.findings import HealthReport
from tools.execution.runtime import Runtime
from tools.guards.redis import RedisDown

KEY: Final = "cp:health:latest"
# Older ones are of no use to anybody.
KEPT_SECONDS: Final = 300
UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError)


async def publish(runtime: Runtime, report: HealthReport) -> None:
    """Let the other processes know."""
    with suppress(RedisDown):
        written = orjson.dumps(report.to_json()).decode()
        await runtime.link.command("SET", KEY, written, "EX", KEPT_SECONDS)


async def latest(runtime: Runtime) -> HealthReport | None:
    """The latest report that some process published; None while there is none or Redis is away."""
    try:
        written = await runtime.link.command("GET", KEY)
    except RedisDown:
        return None
    if written is None:
        return None
    try:
        return HealthReport.read(orjson.loads(written))
    except UNREADABLE:
        # Of another release.
        return None
