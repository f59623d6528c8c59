"""A process that owns a child: `owner.py WAY COMMAND…`. Prints `open` once the child runs.

For what happens to children when their owner is killed, or forgets about them.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import django
import uvloop
from django.conf import settings

settings.configure(
    SECRET_KEY="not a secret",
    CONTROL_PLANE={"UPSTREAM_COMMANDS": {"kept": {"command": sys.argv[2:]}}},
)
django.setup()

from tools.backends.upstream.transports import open_channel  # noqa: E402 - needs the settings
from tools.upstreams import Upstream, UpstreamTransport  # noqa: E402

Run = Callable[[Coroutine[Any, Any, Any]], Any]


async def keep(seconds: float) -> None:
    """Open a channel and never close it."""
    upstream = Upstream("kept", UpstreamTransport.STDIO, command="kept", connect_timeout=15)
    channel = open_channel(upstream, lambda message, request_id: None)
    await channel.open()
    await channel.exchange({"jsonrpc": "2.0", "id": 1, "method": "ready", "params": {}}, {})
    if sys.argv[1] == "forking" and os.fork() == 0:
        # Holds everything that its parent held.
        time.sleep(seconds)
        os._exit(0)
    print("open", flush=True)  # noqa: T201
    await asyncio.sleep(seconds)


if __name__ == "__main__":
    run: Run = uvloop.run if sys.argv[1] == "uvloop" else asyncio.run
    if sys.argv[1] == "forgetting":
        run(keep(0))
        time.sleep(60)
    run(keep(60))
