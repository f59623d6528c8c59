"""What children say and how they end, written to Redis for every process to show.

A child may write faster than anybody reads: lines are sent a few times a second, and of more than fit
only the latest. Redis down: lines wait, and the oldest give way. Nothing here ever fails a call.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections import deque
from typing import Any, Final

import orjson

from tools.backends.ports import ports
from tools.guards.redis import RedisDown, RedisLink
from tools.upstreams.child_logs import (
    KEPT_LINES,
    KEPT_PROCESSES,
    KEPT_SECONDS,
    LOG_KEY,
    LOGS_KEY,
    LONGEST_LINE,
    Happening,
)

SEND_EVERY: Final = 0.5
PROCESS: Final = f"{socket.gethostname()}:{os.getpid()}"


class ChildLog:
    """The log of one child."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._pid = 0
        self._over = False
        self._waiting: deque[bytes] = deque(maxlen=KEPT_LINES)
        self._left_out = 0
        self._sending: asyncio.Task[None] | None = None

    def started(self, pid: int) -> None:
        """The child runs."""
        self._pid, self._over = pid, False
        self._add(Happening.STARTED, "")

    def wrote(self, text: str) -> None:
        """A line of its error output, without secrets."""
        self._add(Happening.WROTE, text)

    def printed(self, text: str) -> None:
        """A line among its messages that is none."""
        self._add(Happening.PRINTED, text)

    def ended(self, why: str) -> None:
        """The child is gone, or was never there. Only the first reason counts."""
        if not self._over:
            self._over = True
            self._add(Happening.ENDED, why)

    async def flush(self) -> None:
        """Send what waits, now."""
        if self._sending is not None:
            self._sending.cancel()
        await self._send()

    def _add(self, what: Happening, text: str) -> None:
        if _link() is None:
            return
        if len(self._waiting) == KEPT_LINES:
            self._left_out += 1
        self._waiting.append(self._written(what, text[:LONGEST_LINE]))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._send_soon())

    def _written(self, what: Happening, text: str) -> bytes:
        entry: dict[str, Any] = {"at": time.time(), "what": what, "pid": self._pid, "text": text}
        return orjson.dumps(entry)

    async def _send_soon(self) -> None:
        # How it ended is told at once: who looks then looks for that.
        while not self._over or self._waiting:
            if not self._over:
                await asyncio.sleep(SEND_EVERY)
            if not await self._send():
                await asyncio.sleep(SEND_EVERY)
            # Without a link, as in a process that ends, nothing is awaited and nothing will be sent.
            if not self._waiting or _link() is None:
                return

    async def _send(self) -> bool:
        """Whether nothing waits any more."""
        link = _link()
        if link is None or not self._waiting:
            return True
        lines = list(self._waiting)
        if self._left_out:
            lines.insert(0, self._written(Happening.LEFT_OUT, str(self._left_out)))
        key = LOG_KEY.format(slug=self._slug, process=PROCESS)
        names = LOGS_KEY.format(slug=self._slug)
        self._waiting.clear()
        self._left_out = 0
        try:
            sent = [
                link.submit("RPUSH", key, *lines),
                link.submit("LTRIM", key, -KEPT_LINES, -1),
                link.submit("EXPIRE", key, KEPT_SECONDS),
                link.submit("ZADD", names, time.time(), PROCESS),
                link.submit("ZREMRANGEBYRANK", names, 0, -KEPT_PROCESSES - 1),
                link.submit("EXPIRE", names, KEPT_SECONDS),
            ]
            await asyncio.gather(*sent)
        except RedisDown:
            self._keep(lines)
            return False
        return True

    def _keep(self, lines: list[bytes]) -> None:
        """Put back what could not be sent, before what came meanwhile."""
        room = KEPT_LINES - len(self._waiting)
        self._left_out += max(0, len(lines) - room)
        self._waiting.extendleft(reversed(lines[len(lines) - min(room, len(lines)) :]))


def _link() -> RedisLink | None:
    """The link of this process, on its loop. A worker looks at servers on another one, beside it."""
    link = ports.link
    return link if link is not None and link.is_here else None
