"""The connections of this process, one per server, and where their state is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final

import orjson

from tools.backends.ports import ports
from tools.backends.upstream.children.log import PROCESS
from tools.backends.upstream.connection import Connection, Down
from tools.backends.upstream.keeper import Keeper
from tools.guards.redis import RedisDown
from tools.upstreams import Discovered, Upstream
from tools.upstreams.states import STATE_KEY, STATE_SECONDS

LONGEST_LINE: Final = 300


class Manager:
    """Opens connections when they are first used, or told to; closes those no longer configured."""

    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        # The servers of the catalogue, where it is followed.
        self._configured: Mapping[str, Upstream] | None = None

    def connection(self, upstream: Upstream) -> Connection:
        """The one connection to `upstream`, as it is configured now: calls may be older than that.

        Raises:
            Down: there is no such server any more.
        """
        if self._configured is not None:
            configured = self._configured.get(upstream.slug)
            if configured is None:
                raise Down("it was removed or switched off")
            upstream = configured
        known = self._connections.get(upstream.slug)
        if known is not None and (known.upstream is upstream or known.upstream == upstream):
            return known
        if known is not None:
            self._drop(upstream.slug)
        connection = self._connections[upstream.slug] = Connection(upstream, _record)
        keeper = Keeper(connection, _publish)
        self._keepers[upstream.slug] = asyncio.create_task(keeper.run())
        return connection

    def follow(self, upstreams: Mapping[str, Upstream], *, meet: bool = True) -> None:
        """These are the servers there are now; those that are to be there from the start are met."""
        self._configured = upstreams
        for slug, connection in list(self._connections.items()):
            if upstreams.get(slug) != connection.upstream:
                self._drop(slug)
        for upstream in upstreams.values():
            if meet and upstream.connect_at_start and upstream.slug not in self._connections:
                self.connection(upstream).begin()

    def connections(self) -> tuple[Connection, ...]:
        return tuple(self._connections.values())

    async def close(self) -> None:
        """Hang up everywhere."""
        for slug in list(self._connections):
            self._drop(slug)
        while self._closing:
            await asyncio.wait(set(self._closing))

    def _drop(self, slug: str) -> None:
        self._keepers.pop(slug).cancel()
        task = asyncio.create_task(_close(self._connections.pop(slug)))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _close(connection: Connection) -> None:
    # At once: when hanging up is done, a new connection may have told its state in the same place.
    await asyncio.gather(_forget(connection.upstream.slug), connection.close())


async def _record(upstream: Upstream, found: Discovered) -> None:
    if ports.discovered is not None:
        await ports.discovered(upstream.slug, found)


async def _publish(connection: Connection) -> None:
    """Let operators see how this process fares with the server."""
    if ports.link is None:
        return
    key = STATE_KEY.format(slug=connection.upstream.slug)
    lines = [line[:LONGEST_LINE] for line in connection.error_lines()]
    report = connection.report().to_wire()
    state = orjson.dumps({"at": time.time(), **report, "error_lines": lines})
    try:
        await ports.link.command("HSET", key, PROCESS, state)
        await ports.link.command("EXPIRE", key, STATE_SECONDS)
    except RedisDown:
        # Shown states grow old and are left out; the next look tells again.
        return


async def _forget(slug: str) -> None:
    if ports.link is None:
        return
    try:
        await ports.link.command("HDEL", STATE_KEY.format(slug=slug), PROCESS)
    except RedisDown:
        return
