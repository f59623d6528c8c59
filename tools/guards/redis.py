"""The connection to Redis that the hot path shares, and what happens while Redis is away.

Commands of concurrent calls share one connection and do not wait for each other's replies. After a
failure every command fails at once with `RedisDown`; each guard says in its own docstring what it
does then. Meanwhile the link asks the server every `COOL_DOWN` seconds on its own, and commands are
tried again once it has answered: a hung server costs the calls that meet it first at most
`COMMAND_TIMEOUT`, and later calls nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from tools.guards.wire import Argument, RedisDown, Wire, pack

__all__ = ["Argument", "RedisDown", "RedisLink", "connect", "disconnect", "load_script"]

logger = logging.getLogger(__name__)

COOL_DOWN: Final = 0.5
COMMAND_TIMEOUT: Final = 1.0
LOOK_EVERY: Final = COMMAND_TIMEOUT / 4
# Moves with every change of the catalogue; watchers compare it with what they saw last.
CATALOGUE_KEY: Final = "cp:catalogue:version"
JOURNAL_STREAM: Final = "cp:journal"
# Events no database would take, kept for the operator to look at.
REFUSED_STREAM: Final = "cp:journal:refused"


def connect(url: str, *, timeout: float | None = COMMAND_TIMEOUT, decode: bool = True) -> Redis:
    """A redis-py client for `url` that repeats nothing by itself.

    A command whose reply was lost may have been carried out, and a second time-out would double
    the wait. A connection dropped while idle is noticed and replaced before it is used.
    """
    return Redis.from_url(
        url,
        decode_responses=decode,
        socket_connect_timeout=COMMAND_TIMEOUT,
        socket_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
    )


async def disconnect(client: Redis) -> None:
    """Let go of a client's connections, also when whoever waits for that is cancelled meanwhile.

    redis-py closes them in tasks, and one that is cancelled before it began leaves its socket open.
    """
    closing = asyncio.create_task(client.aclose())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        # Not longer than its own time limit for closing.
        await asyncio.wait({closing}, timeout=COMMAND_TIMEOUT)
        raise


def load_script(name: str) -> str:
    """The Lua script `lua/<name>.lua` beside this module, preceded by what all scripts share."""
    folder = Path(__file__).parent / "lua"
    return (folder / "shared.lua").read_text() + (folder / f"{name}.lua").read_text()


class RedisLink:
    """Commands over one shared connection, for the event loop it is used on."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._loop = _running_loop()
        self._wire: Wire | None = None
        self._opening: asyncio.Task[None] | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._early: list[tuple[bytes, asyncio.Future[Any], float]] = []
        self._watchdog: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def available(self) -> bool:
        """Whether the next command would be tried."""
        return self._recovery is None or self._recovery.done()

    @property
    def is_here(self) -> bool:
        """Whether the running loop is the one it was made on; on any other it must be left alone."""
        return self._loop is None or self._loop is _running_loop()

    def submit(self, *command: Argument) -> asyncio.Future[Any]:
        """Send a command; the future has its reply, RedisDown or ResponseError.

        The command is sent even when nobody waits for the future any more, and commands are
        carried out in the order in which they were submitted.

        Raises:
            ValueError, TypeError: at once, when an argument cannot be sent.
        """
        packed = pack(*command)
        if self._wire is not None and self._wire.is_open:
            self._watch()
            return self._wire.send(packed)
        return self._submit_early(packed)

    async def command(self, *command: Argument) -> Any:
        """Run one command.

        Raises:
            RedisDown: when Redis cannot be reached.
        """
        return await self.submit(*command)

    async def script(self, body: str, keys: Sequence[str], *arguments: Argument) -> Any:
        """Run a Lua script."""
        return await self.submit_script(body, keys, *arguments)

    def submit_script(
        self, body: str, keys: Sequence[str], *arguments: Argument
    ) -> asyncio.Future[Any]:
        """Send a Lua script, like `submit`: whole the first time on a connection, then by its digest.

        A restarted server is a new connection, so it is never asked for what it cannot know.
        """
        wire = self._wire
        if wire is not None and wire.is_open:
            if body in wire.taught:
                return self.submit("EVALSHA", _digest(body), len(keys), *keys, *arguments)
            wire.taught.add(body)
        return self.submit("EVAL", body, len(keys), *keys, *arguments)

    async def close(self) -> None:
        """Wait for the replies that are still to come, then disconnect. Later commands are refused."""
        self._closed = True
        if self._opening is not None:
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
        if self._wire is not None:
            # Replies come in order: when this one is here, so are all before it.
            await asyncio.wait([self._wire.send(pack("PING"))], timeout=COMMAND_TIMEOUT)
            self._wire.close()
        if self._watchdog is not None:
            self._watchdog.cancel()

    def drop(self) -> None:
        """Disconnect at once: whatever is still to come is lost, and later commands are refused."""
        self._closed = True
        for task in (self._opening, self._recovery):
            if task is not None:
                task.cancel()
        if self._wire is not None:
            self._wire.close()
        if self._watchdog is not None:
            self._watchdog.cancel()

    def _submit_early(self, packed: bytes) -> asyncio.Future[Any]:
        """Keep a command until there is a connection; refuse it while Redis is known to be away."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # Whoever comes after the end would open a connection that nobody closes.
        if self._closed or not self.available:
            _refuse(reply)
            return reply
        self._early.append((packed, reply, time.monotonic()))
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return reply

    async def _open(self) -> None:
        try:
            self._wire = await self._connected()
        except (RedisDown, RedisError, OSError) as fault:
            self._mark_down(fault)
        finally:
            self._opening = None
            early, self._early = self._early, []
            for waiting in early:
                self._forward(*waiting)

    def _forward(self, packed: bytes, reply: asyncio.Future[Any], since: float) -> None:
        if self._wire is not None and self._wire.is_open:
            self._wire.send(packed, reply, since)
            self._watch()
        elif not reply.done():
            _refuse(reply)

    async def _connected(self) -> Wire:
        async with asyncio.timeout(COMMAND_TIMEOUT):
            return await Wire.open(self.url)

    def _watch(self) -> None:
        """Look now and then whether replies still come; one timer serves all commands."""
        if self._watchdog is None:
            self._watchdog = asyncio.get_running_loop().call_later(LOOK_EVERY, self._look)

    def _look(self) -> None:
        self._watchdog = None
        if self._wire is None or not self._wire.waited():
            return
        if self._wire.waited() > COMMAND_TIMEOUT - LOOK_EVERY:
            self._mark_down(TimeoutError())
        else:
            self._watch()

    def _mark_down(self, fault: BaseException) -> None:
        logger.warning("Redis is unavailable: %s", type(fault).__name__)
        if self._wire is not None:
            self._wire.close()
        self._recovery = asyncio.create_task(self._recover())

    async def _recover(self) -> None:
        while True:
            await asyncio.sleep(COOL_DOWN)
            try:
                self._wire = await self._connected()
            except (RedisDown, RedisError, OSError):
                continue
            logger.info("Redis is available again")
            return


@cache
def _digest(body: str) -> str:
    return hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()


def _refuse(reply: asyncio.Future[Any]) -> None:
    reply.set_exception(RedisDown("Redis is unavailable"))
    # A caller that was cancelled meanwhile never looks; that is not worth a log entry.
    reply.exception()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
