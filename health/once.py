"""A measurement by a process that serves nobody, such as a command."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from datetime import timedelta
from importlib import import_module
from typing import Final

from django.conf import settings as django_settings
from django.db import Error as DatabaseError

from health.canary import ROUND_SECONDS
from health.findings import HealthReport
from health.measure import measure, own_checks
from tools.conf import ConfigurationFault, ServiceSettings
from tools.execution.runtime import Runtime, open_runtime

logger = logging.getLogger(__name__)

OPEN_SECONDS: Final = 6.0


async def measure_once() -> HealthReport:
    """Measure everything. Without the database only what is the same for every catalogue."""
    # Whoever looks for workers must know their broker.
    import_module(django_settings.CELERY_APPLICATION)
    async with AsyncExitStack() as stack:
        runtime = await _open(stack)
        settings = ServiceSettings() if runtime is None else runtime.settings
        limit = timedelta(milliseconds=settings.monitoring_dependency_timeout_ms)
        return await measure(own_checks(), runtime, limit, ROUND_SECONDS)


async def _open(stack: AsyncExitStack) -> Runtime | None:
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            return await stack.enter_async_context(open_runtime())
    except (DatabaseError, ConfigurationFault, TimeoutError) as fault:
        logger.debug("The catalogue cannot be read: %r", fault)
        return None
