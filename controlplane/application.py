"""The outermost application: lifespan, the REST and MCP doors on the event loop, Django's admin in threads."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

from a2wsgi import WSGIMiddleware
from django.core.handlers.wsgi import WSGIHandler
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

import controlplane.celery  # noqa: F401 - the worker check pings through this app
from controlplane.admin_pages import pages_soon
from controlplane.buffered import BufferedBody
from controlplane.corpora import CorporaEndpoint
from controlplane.cors import ConfiguredCors
from controlplane.opened import opened, shut
from controlplane.reload import reload_configuration
from controlplane.rest import ViewEndpoint
from controlplane.short_way import ShortWay
from health.snapshot import watching
from health.views import HealthView, LiveView, MetricsView, PipelinesView, ReadyView
from tools.api.views import CallToolView, ToolsView
from tools.errors import Starting
from tools.execution.runtime import current
from tools.mcp_server.app import STREAMABLE, McpDoors
from tools.mcp_server.metadata import oauth_routes

ADMIN_THREADS = 8


@contextlib.asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open what calls need, drain the journal meanwhile, and close in the opposite order."""
    loop = asyncio.get_running_loop()
    async with opened(wait=False) as runtime, watching(runtime), pages_soon():
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
            async with mcp_doors.run(runtime):
                yield
        finally:
            if hooked:
                loop.remove_signal_handler(signal.SIGHUP)
            begin_shutdown()
            await asyncio.gather(*reloads, return_exceptions=True)


def begin_shutdown() -> None:
    """Refuse new calls from now on; those under way are completed."""
    with contextlib.suppress(Starting):
        shut(current())
    mcp_doors.close_streams()


mcp_doors = McpDoors()
admin = cast(ASGIApp, WSGIMiddleware(cast(Any, WSGIHandler()), workers=ADMIN_THREADS))
everything = Starlette(
    routes=[
        Route("/call-tool", ViewEndpoint(CallToolView.as_view())),
        Route("/tools", ViewEndpoint(ToolsView.as_view())),
        Route("/health", ViewEndpoint(HealthView.as_view())),
        Route("/health/live", ViewEndpoint(LiveView.as_view())),
        Route("/health/ready", ViewEndpoint(ReadyView.as_view())),
        Route("/health/pipelines", ViewEndpoint(PipelinesView.as_view())),
        Route("/metrics", ViewEndpoint(MetricsView.as_view())),
        Route("/api/corpora{rest:path}", CorporaEndpoint()),
        *mcp_doors.routes(),
        *oauth_routes(),
        Mount("/", BufferedBody(admin)),
    ],
    middleware=[Middleware(ConfiguredCors)],
    lifespan=lifespan,
)
application = ShortWay(everything, {STREAMABLE: mcp_doors.endpoint(STREAMABLE)})
