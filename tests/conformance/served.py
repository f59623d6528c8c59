"""An application behind a real port for the time of a test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from tests.doors import free_port
from tests.processes import wait_until


@contextmanager
def served(application: ASGIApp) -> Iterator[str]:
    """Serve with the product's own HTTP parser; gives the address."""
    port = free_port()
    config = uvicorn.Config(
        application, host="127.0.0.1", port=port, http="httptools", log_config=None, lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), what="the start of the server")
        assert thread.is_alive(), "the server did not start"
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not stop"
