"""A round of all checks, as a worker makes it every interval."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from health.canary import ROUND_SECONDS
from health.findings import HealthReport, Source
from health.latest import publish
from health.measure import measure, own_checks
from health.record import keep
from tools.execution.runtime import current
from tools.guards.redis import RedisDown

LOCK: Final = "cp:health:round"


async def make_round() -> HealthReport | None:
    """Measure everything, publish it, write it down. None while another worker is at it."""
    runtime = current()
    limit = timedelta(milliseconds=runtime.settings.monitoring_dependency_timeout_ms)
    longest = ROUND_SECONDS + limit.total_seconds() + 1
    try:
        if not await runtime.link.command("SET", LOCK, "1", "NX", "PX", int(longest * 1000)):
            return None
    except RedisDown:
        return None
    try:
        found = await measure(own_checks(), runtime, limit, ROUND_SECONDS)
        report = replace(found, source=Source.SNAPSHOT)
        await publish(runtime, report)
        await keep(report)
    finally:
        await runtime.link.command("DEL", LOCK)
    return report
