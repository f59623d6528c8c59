"""The web process: uvicorn, told when to stop taking calls and how long to finish them."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from controlplane.runtime.binding import BACKLOG
from controlplane.runtime.birth import process_age
from controlplane.runtime.ending import served
from controlplane.runtime.joining import JoiningHttp
from controlplane.runtime.tuning import tune_interpreter

# What must still fit into server.graceful_shutdown_seconds once calls are drained: closing
# the application, the other processes, and Redis, which stops last.
RESERVED_FOR_THE_REST = 2.25
SHORTEST_DRAIN = 0.5


def drain_seconds(graceful_shutdown_seconds: float) -> float:
    """How long calls in flight may take to finish when the whole stop has the given time."""
    return max(SHORTEST_DRAIN, graceful_shutdown_seconds - RESERVED_FOR_THE_REST)


class PatientWebSocket(WebSocketsSansIOProtocol):
    """Leaves it to the application to end a connection at a stop: when what was asked is answered."""

    @override
    def shutdown(self) -> None:
        if not self.handshake_complete:
            super().shutdown()


class WebServer(uvicorn.Server):
    """Tells the application at the first signal, before any connection is closed."""

    def __init__(self, config: uvicorn.Config, begin_shutdown: Callable[[], None]) -> None:
        super().__init__(config)
        self._begin_shutdown = begin_shutdown

    @override
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            self._begin_shutdown()
        super().handle_exit(sig, frame)


def load(graceful_shutdown_seconds: float) -> WebServer:
    """The server with its application imported, so that it answers soon after it takes the port."""
    prepare_process()
    from controlplane.asgi import application, begin_shutdown

    return server_of(application, begin_shutdown, graceful_shutdown_seconds)


def prepare_process() -> None:
    """What a process that serves does first: a signal ends it with 0, its tasks are ours."""
    # Also reached after the drain: uvicorn raises the signal again, and leaving by SystemExit
    # lets exit handlers run.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    # Imported here: it needs Django set up.
    from controlplane import opened

    opened.began = time.monotonic() - process_age()
    # Tasks sent from this process go through our Celery application, not a default one.
    import_module("controlplane.celery")


def server_of(
    application: ASGIApp, begin_shutdown: Callable[[], None], graceful_shutdown_seconds: float
) -> WebServer:
    """A server for `application`; `begin_shutdown` is called at the first signal."""
    tune_interpreter()
    config = uvicorn.Config(
        application,
        loop="uvloop",
        http=JoiningHttp,
        ws=PatientWebSocket,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        # The client's address is the connection's own; a forwarded one can be forged.
        proxy_headers=False,
        timeout_keep_alive=30,
        backlog=BACKLOG,
    )
    # uvicorn declares whole seconds but hands the value to asyncio, which takes fractions.
    config.timeout_graceful_shutdown = drain_seconds(graceful_shutdown_seconds)  # type: ignore[assignment]
    return WebServer(config, begin_shutdown)


def _leave(number: int, frame: FrameType | None) -> None:
    served()
    sys.exit(0)
