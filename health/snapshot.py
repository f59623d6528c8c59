"""The health of the service for whoever asks in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib import import_module

from django.conf import settings as django_settings

from health.findings import HealthReport
from health.latest import latest
from health.measure import measure, own_checks
from health.status import HealthStatus, state_for
from health.watch import HealthWatch
from tools.backends.memo import Memo
from tools.conf import ServiceSettings
from tools.errors import Starting
from tools.execution.ending import end
from tools.execution.runtime import Runtime, current

# The watch of this process, where one runs.
_watch: HealthWatch | None = None
# Without one, askers within a second share a measurement.
_shared: Memo[HealthReport] = Memo(1.0)


async def current_health() -> HealthReport:
    """The latest report; `checked_at` tells how old it is."""
    if _watch is not None:
        return await _watch.report()
    return await _shared.get("", _without_watch)


@asynccontextmanager
async def watching(runtime: Runtime, watch: HealthWatch | None = None) -> AsyncIterator[None]:
    """Keep the report up to date, and let the state of the process follow it."""
    global _watch  # noqa: PLW0603 - one watch per process is the point

    def follow(status: HealthStatus) -> None:
        runtime.observe(state_for(status))

    _watch = mine = watch or HealthWatch(runtime, on_status=follow)
    looking = asyncio.create_task(mine.run())
    try:
        yield
    finally:
        _watch = None
        await end(looking)
        await mine.close()


async def _without_watch() -> HealthReport:
    """For commands: what was published last, while it is fresh; else measured here."""
    try:
        runtime: Runtime | None = current()
    except Starting:
        runtime = None
    settings = runtime.settings if runtime is not None else ServiceSettings()
    if runtime is not None:
        published = await latest(runtime)
        if published and published.age_seconds <= settings.monitoring_health_check_interval:
            return published
    # Whoever looks for workers must know their broker.
    import_module(django_settings.CELERY_APPLICATION)
    limit = timedelta(milliseconds=settings.monitoring_dependency_timeout_ms)
    return await measure(own_checks(), runtime, limit, limit.total_seconds())
