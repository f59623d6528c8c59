"""One web process as `manage.py serve` runs it, which also tells what it has open.

    python -m tests.load.served PORT GRACEFUL_SECONDS

For tests alone: nothing of the product knows the address `/__counts`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import sys
import threading
from collections import Counter
from typing import Any, Final

import django
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

COUNTS: Final = "/__counts"
# Live objects of these packages are counted by class: what is held without being a task or a
# descriptor shows there first.
WATCHED: Final = (
    *("tools.mcp_server.", "controlplane.", "mcp.", "sse_starlette.", "starlette.", "uvicorn."),
    *("websockets.", "anyio.", "asyncio."),
)


class Counted:
    """The application, and what the process has open."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != COUNTS:
            await self._application(scope, receive, send)
            return
        body = json.dumps(counts())
        # The connection of the one who asks is not to be found by the next who does.
        closing = {"Connection": "close"}
        answer = Response(body, media_type="application/json", headers=closing)
        await answer(scope, receive, send)


def counts() -> dict[str, dict[str, int]]:
    """Tasks by coroutine, threads by name, watched objects by class; that of the asker left out."""
    gc.collect()
    asking = asyncio.current_task()
    tasks = Counter(_name(task) for task in asyncio.all_tasks() if task is not asking)
    threads = Counter(thread.name.rstrip("0123456789_-") for thread in threading.enumerate())
    objects = Counter(
        f"{kind.__module__}.{kind.__qualname__}"
        for kind in map(type, gc.get_objects())
        if str(kind.__module__).startswith(WATCHED)
    )
    return {"tasks": dict(tasks), "threads": dict(threads), "objects": dict(objects)}


def _name(task: asyncio.Task[Any]) -> str:
    coroutine = task.get_coro()
    return getattr(coroutine, "__qualname__", repr(coroutine))


def main(port: int, graceful_seconds: float) -> None:
    """Serve until SIGTERM."""
    django.setup()
    from controlplane.runtime.server import prepare_process, server_of

    prepare_process()
    from controlplane.asgi import application, begin_shutdown

    server = server_of(Counted(application), begin_shutdown, graceful_seconds)
    # The timer of a connection outlives it; a test need not wait that long to see it gone.
    server.config.timeout_keep_alive = 2
    with socket.create_server(("127.0.0.1", port), backlog=2048) as listener:
        server.run(sockets=[listener])


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
