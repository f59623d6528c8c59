"""Looks after one connection: signs of life, notices, idle time, reconnecting."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.connection import Connection
from tools.backends.upstream.session import RpcError, Session
from tools.upstreams import ConnectionState

logger = logging.getLogger(__name__)

CHECK_EVERY: Final = 30.0
REPORT_EVERY: Final = 10.0
# Seconds between attempts to reach a server that is away; the last one for ever.
BACKOFF: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
LISTEN_AGAIN: Final = 5.0
# A stream of notices that has not ended by then is one.
STREAM_OPEN_AFTER: Final = 1.0
# Many changes at once are one change to look at.
_ATTENTION_PAUSE: Final = 0.05

Publish = Callable[[Connection], Awaitable[None]]


class Keeper:
    """The one who watches. Runs for as long as the connection is configured."""

    def __init__(self, connection: Connection, publish: Publish) -> None:
        self._connection = connection
        self._publish = publish
        self._attempts = 0
        self._next_attempt = 0.0
        self._checked_at = time.monotonic()
        self._reported_at = 0.0
        self._failures_seen = 0
        self._suspicious = False
        self._listening: asyncio.Task[None] | None = None
        self._listened_to: Session | None = None

    async def run(self) -> None:
        """Look again and again, at once when something happened."""
        connection = self._connection
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause()):
                        await connection.attention.wait()
                if connection.attention.is_set():
                    connection.attention.clear()
                    self._reported_at = 0.0
                    await asyncio.sleep(_ATTENTION_PAUSE)
                await self._look()
        finally:
            if self._listening is not None:
                self._listening.cancel()

    async def _look(self) -> None:
        connection = self._connection
        try:
            await self._reconnect()
            if (session := connection.live) is not None:
                self._listen(session)
                await self._check(session)
                await self._rest()
        except Exception:
            logger.exception("Looking after %s failed on a bug", connection.upstream.slug)
        if time.monotonic() - self._reported_at >= REPORT_EVERY:
            self._reported_at = time.monotonic()
            await self._publish(connection)

    def _pause(self) -> float:
        now = time.monotonic()
        connection = self._connection
        due = [self._reported_at + REPORT_EVERY]
        if connection.live is not None:
            due.append(self._checked_at + CHECK_EVERY)
            if idle := connection.upstream.idle_seconds:
                due.append((now if connection.in_use else connection.used_at) + idle)
        elif self._wanted():
            due.append(self._next_attempt)
        return max(0.05, min(due) - now)

    def _wanted(self) -> bool:
        return self._connection.state is not ConnectionState.DISCONNECTED

    async def _reconnect(self) -> None:
        """Meet a server again that went away; less and less often while it stays away."""
        if self._connection.live is not None:
            self._attempts = 0
            return
        if not self._wanted() or time.monotonic() < self._next_attempt:
            return
        self._next_attempt = time.monotonic() + BACKOFF[min(self._attempts, len(BACKOFF) - 1)]
        self._attempts += 1
        opening = self._connection.begin()
        # Not awaited itself: that it was cancelled must not look like us being cancelled.
        await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            self._checked_at = time.monotonic()

    async def _check(self, session: Session) -> None:
        """Ask for a sign of life now and then, and at once after a failure: who hangs must not stay."""
        connection = self._connection
        failed = connection.all_failures > self._failures_seen or self._suspicious
        self._suspicious = False
        self._failures_seen = connection.all_failures
        regular = time.monotonic() - self._checked_at >= CHECK_EVERY
        if not regular and not failed:
            return
        self._checked_at = time.monotonic()
        if await self._is_alive(session):
            connection.last_health_check = datetime.now(UTC)
            if connection.stale:
                connection.list_changed()
            # Just after a failed call a sign of life does not say that calls work again.
            if regular and not failed:
                connection.succeeded()

    async def _is_alive(self, session: Session) -> bool:
        connection = self._connection
        limit = connection.upstream.connect_timeout
        try:
            async with asyncio.timeout(limit):
                await session.check()
        except RpcError:
            # An error is an answer; some servers do not know the question.
            return True
        except (ChannelFault, TimeoutError) as fault:
            late = isinstance(fault, TimeoutError)
            why = f"it gave no sign of life within {limit:g} s" if late else str(fault)
            if connection.live is session:
                # Else somebody else has found out, and counted it.
                connection.failed(why)
            connection.lose(session, why)
            return False
        return True

    async def _rest(self) -> None:
        """Let go of a server that nobody has used for as long as it may idle."""
        connection = self._connection
        idle = connection.upstream.idle_seconds
        if idle and not connection.in_use and time.monotonic() - connection.used_at >= idle:
            logger.info("%s is idle and is let go", connection.upstream.slug)
            await connection.disconnect()

    def _listen(self, session: Session) -> None:
        if self._listened_to is session:
            return
        if self._listening is not None:
            self._listening.cancel()
        self._listened_to = session
        self._listening = asyncio.create_task(self._follow(session))

    async def _follow(self, session: Session) -> None:
        """Hear of changes; what changed while nobody listened is looked up afterwards."""
        while not session.broken:
            began = time.monotonic()
            # What changed between the last list and the opening of the stream nobody was told of.
            looking = asyncio.get_running_loop().call_later(
                STREAM_OPEN_AFTER, self._connection.list_changed
            )
            try:
                await session.listen()
            except RpcError:
                return
            except ChannelFault as fault:
                logger.debug("%s: notices ended: %s", self._connection.upstream.slug, fault)
                # Perhaps the server has gone; calls should not have to find that out.
                self._suspicious = True
                self._connection.attention.set()
            finally:
                looking.cancel()
            if time.monotonic() - began < STREAM_OPEN_AFTER:
                # It has no such stream, or notices come without one.
                return
            await asyncio.sleep(LISTEN_AGAIN)
            if not session.broken:
                self._connection.list_changed()
