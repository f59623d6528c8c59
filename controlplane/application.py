"""The outermost application: lifespan, the REST door on the event loop, Django's admin in threads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

import controlplane.celery  # noqa: F401 - the worker check pings through this app
from controlplane.buffered import BufferedBody
from controlplane.cors import ConfiguredCors
from controlplane.reload import reload_configuration
from controlplane.rest import ViewEndpoint
from health import snapshot
from health.metrics import observe_call
from health.views import HealthView, MetricsView
from tools.api.views import CallToolView, ToolsView
from tools.conf import deployment
from tools.contracts import ServiceState
from tools.errors import Starting
from tools.execution.runtime import current, open_runtime
from tools.services.drain_journal import JournalDrain

logger = logging.getLogger(__name__)

ADMIN_THREADS = 8


@contextlib.asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open what calls need, drain the journal meanwhile, and close in the opposite order."""
    loop = asyncio.get_running_loop()
    drain = JournalDrain(deployment().redis_url, Path(settings.VAR_DIR) / "journal-spool")
    async with open_runtime(wait=False) as runtime:
        runtime.observers.append(observe_call)
        snapshot.on_status = lambda status: runtime.observe(snapshot.state_for(status))
        background = [asyncio.create_task(drain.run()), asyncio.create_task(watch_health())]
        reloads: set[asyncio.Task[None]] = set()

        def reload() -> None:
            task = asyncio.create_task(reload_configuration())
            reloads.add(task)
            task.add_done_callback(reloads.discard)

        # Signals reach the main thread alone; served from another one there is nothing to hook.
        hooked = threading.current_thread() is threading.main_thread()
        if hooked:
            loop.add_signal_handler(signal.SIGHUP, reload)
        try:
            yield
        finally:
            if hooked:
                loop.remove_signal_handler(signal.SIGHUP)
            begin_shutdown()
            for task in background:
                task.cancel()
            await asyncio.gather(*background, *reloads, return_exceptions=True)
            await drain.finish()
            runtime.become(ServiceState.STOPPED)


async def watch_health() -> None:
    """Keep the process's state true also while nobody asks for it."""
    while True:
        await asyncio.sleep(current().settings.monitoring_health_check_interval)
        try:
            await snapshot.current_health()
        except Exception:
            logger.exception("A health check failed on a bug")


def begin_shutdown() -> None:
    """Refuse new calls from now on; those under way are completed."""
    with contextlib.suppress(Starting):
        runtime = current()
        if not runtime.stopping:
            runtime.become(ServiceState.SHUTTING_DOWN)


admin = cast(ASGIApp, WSGIMiddleware(cast(Any, WSGIHandler()), workers=ADMIN_THREADS))
application = Starlette(
    routes=[
        Route("/call-tool", ViewEndpoint(CallToolView.as_view())),
        Route("/tools", ViewEndpoint(ToolsView.as_view())),
        Route("/health", ViewEndpoint(HealthView.as_view())),
        Route("/metrics", ViewEndpoint(MetricsView.as_view())),
        Mount("/", BufferedBody(admin)),
    ],
    middleware=[Middleware(ConfiguredCors)],
    lifespan=lifespan,
)
