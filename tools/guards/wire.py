"""One connection to Redis that commands share: written as they come, answered in that order.

redis-py's own pipeline costs about three times as much per round trip, which every call would pay
twice (`python -m bench.redis_link` compares the two). This is the part of it the hot path needs:
no pool, no retries, no pub/sub. Everything else in the project uses redis-py as it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections import deque
from typing import Any, Final, cast

import hiredis
from redis.asyncio.connection import SSLConnection, parse_url
from redis.exceptions import ResponseError
from typing_extensions import override

Argument = str | bytes | int | float

# Replies of a server that is there but cannot do its work; to a guard that is the same as away.
UNFIT: Final = (
    *("LOADING", "MISCONF", "READONLY", "OOM", "BUSY ", "NOREPLICAS", "UNKILLABLE"),
    *("MASTERDOWN", "CLUSTERDOWN", "NOAUTH", "WRONGPASS"),
)


class RedisDown(Exception):
    """Redis cannot be used now; the caller falls back to what its docstring promises."""


class ScriptForgotten(RedisDown):
    """The server was made to forget its scripts; they are sent whole again from now on."""


def pack(*command: Argument) -> bytes:
    """A command as it travels.

    Raises:
        ValueError, TypeError: when an argument cannot be sent.
    """
    if bool in map(type, command):
        raise TypeError("Redis takes text, bytes and numbers, not bool")
    packed: bytes = hiredis.pack_command(command)  # type: ignore[arg-type] # its stub takes one item
    return packed


class Wire(asyncio.Protocol):
    """The connection. `send` never waits; its future has the reply or an exception."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(encoding="utf-8", errors="replace", replyError=_reply_error)
        self._pending: deque[tuple[asyncio.Future[Any], float]] = deque()
        self._outgoing: list[bytes] = []
        # Scripts that the server has seen on this connection, and so knows by their digest.
        self.taught: set[str] = set()
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, url: str) -> Wire:
        """Connect, log in and choose the database, as `url` says.

        Raises:
            OSError, RedisDown, ResponseError: when that is not possible.
        """
        options: dict[str, Any] = dict(parse_url(url))
        loop = asyncio.get_running_loop()
        if "path" in options:
            _, wire = await loop.create_unix_connection(cls, options["path"])
        else:
            host, port = options.get("host", "localhost"), options.get("port", 6379)
            _, wire = await loop.create_connection(cls, host, port, ssl=_tls(options))
        try:
            if options.get("password"):
                user = [options["username"]] if options.get("username") else []
                await wire.send(pack("AUTH", *user, options["password"]))
            if options.get("db"):
                await wire.send(pack("SELECT", options["db"]))
            # A server that is still reading its file in accepts connections, but no work.
            await wire.send(pack("PING"))
        except BaseException:
            wire.close()
            raise
        return wire

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(
        self,
        packed: bytes,
        reply: asyncio.Future[Any] | None = None,
        since: float | None = None,
    ) -> asyncio.Future[Any]:
        """Write one packed command; its reply goes into `reply`, or into a new future.

        `since` is when its caller began to wait, if that was before.
        """
        reply = reply or self._loop.create_future()
        if self._transport is None or self._transport.is_closing():
            _fail(reply, RedisDown("The connection is closed"))
            return reply
        self._pending.append((reply, since or time.monotonic()))
        # What is sent in one turn of the loop leaves in one write.
        self._outgoing.append(packed)
        if len(self._outgoing) == 1:
            self._loop.call_soon(self._flush)
        return reply

    def _flush(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(outgoing))

    def waited(self) -> float:
        """How long the oldest command has been without a reply, in seconds."""
        return time.monotonic() - self._pending[0][1] if self._pending else 0.0

    def close(self) -> None:
        """Drop the connection; whoever still waits gets RedisDown."""
        if self._transport is not None:
            self._transport.abort()
        self._abandon()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    @override
    def data_received(self, data: bytes) -> None:
        try:
            self._reader.feed(data)
            # `False` means that the rest of a reply is still to come.
            while (reply := self._reader.gets()) is not False:
                self._settle(reply)
        except (hiredis.ProtocolError, IndexError):
            # Not the protocol, or a reply nobody asked for: nothing after it can be trusted.
            self.close()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._abandon()

    def _settle(self, reply: Any) -> None:
        future, _ = self._pending.popleft()
        if future.done():
            return
        if isinstance(reply, Exception):
            if isinstance(reply, ScriptForgotten):
                self.taught.clear()
            _fail(future, reply)
        else:
            future.set_result(reply)

    def _abandon(self) -> None:
        while self._pending:
            future, _ = self._pending.popleft()
            if not future.done():
                _fail(future, RedisDown("The connection was lost"))


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    future.set_exception(error)
    # A caller that was cancelled meanwhile never looks; that is not worth a log entry.
    future.exception()


def _reply_error(message: str) -> Exception:
    if message.startswith("NOSCRIPT"):
        return ScriptForgotten(message)
    if message.startswith(UNFIT):
        return RedisDown(message)
    return ResponseError(message)


def _tls(options: dict[str, Any]) -> ssl.SSLContext | None:
    if options.get("connection_class") is not SSLConnection:
        return None
    context = ssl.create_default_context(cafile=options.get("ssl_ca_certs"))
    if options.get("ssl_cert_reqs") == "none":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with contextlib.suppress(KeyError):
        context.load_cert_chain(options["ssl_certfile"], options["ssl_keyfile"])
    return context
