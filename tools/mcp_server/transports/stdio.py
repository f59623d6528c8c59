"""stdio: one JSON-RPC message a line, over the standard input and output of this process.

Lines are read and written by threads of their own. The SDK's reader waits in a thread that keeps
the process from leaving until the client sends something; these do not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import queue
import stat
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage

from tools.conf import deployment
from tools.contracts import Transport
from tools.errors import BodyTooLarge, ControlPlaneError, ErrorDetails
from tools.mcp_server.connections import Connections
from tools.mcp_server.messages import parsed, refusal_of
from tools.mcp_server.peer import Peer, current_peer
from tools.mcp_server.transports.conversation import Conversation, ConversationOver
from tools.mcp_server.transports.duplex import first_of, serve_connection

# What was asked before the input ended is still answered if that takes no longer than this.
PATIENCE_SECONDS: Final = 0.5
CHUNK: Final = 1 << 16
# Lines that wait for the event loop; beyond, the client waits.
MOST_WAITING: Final = 64


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors a client is at, used by nothing else in this process."""

    reading: int
    writing: int


@contextmanager
def claimed_wire() -> Iterator[Wire]:
    """Take the standard streams over.

    Meanwhile standard input is empty for everybody else, and what they print goes to standard
    error, so that nothing but messages reaches the client.
    """
    sys.stdout.flush()
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield wire
    finally:
        sys.stdout.flush()
        # The copies stay open: a thread may still wait on them.
        os.dup2(wire.reading, 0)
        os.dup2(wire.writing, 1)


def nobody_there() -> bool:
    """Whether standard input is closed or the null device: then there is no client to serve."""
    try:
        given = os.fstat(0)
    except OSError:
        return True
    return stat.S_ISCHR(given.st_mode) and given.st_rdev == os.stat(os.devnull).st_rdev


class StdioDoor:
    """Serves the one client at the standard streams."""

    def __init__(self, server: Server[Any], connections: Connections) -> None:
        self._server = server
        self._connections = connections
        self._ended = asyncio.Event()

    def close(self) -> None:
        """Stop serving; calls under way are cancelled."""
        self._ended.set()

    async def serve(self, peer: Peer, wire: Wire) -> None:
        """Return when the client has closed its end, or after `close`."""
        current_peer.set(peer)
        lines, writer = Lines(wire.reading), Writer(wire.writing)

        async def feed(conversation: Conversation) -> None:
            reading = self._feed(lines, writer, conversation)
            with contextlib.suppress(ConversationOver):
                await first_of(reading, self._ended.wait(), writer.broken())

        with self._connections.admit(Transport.STDIO):
            # The only client there is may take its time, and ask as much as it likes.
            await serve_connection(self._server, feed, writer.write, None, math.inf)

    async def _feed(self, lines: Lines, writer: Writer, conversation: Conversation) -> None:
        async for line in lines.arriving():
            try:
                await conversation.put(_message(line))
            except ControlPlaneError as error:
                await writer.write(json.dumps(refusal_of(error)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await conversation.settled()


def _message(line: bytes) -> SessionMessage:
    """The message of a line.

    Raises:
        ControlPlaneError: there is none in it, or it is too long and therefore empty here.
    """
    if line:
        return parsed(line)
    limit = deployment().max_body_bytes
    raise BodyTooLarge(
        f"The message is longer than {limit} bytes",
        ErrorDetails(expected=f"at most {limit} bytes", suggestion="Send less at once"),
    )


class Lines:
    """The lines of a descriptor, read by a thread that never keeps the process from leaving."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._limit = deployment().max_body_bytes
        self._loop = asyncio.get_running_loop()
        self._arrived: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(MOST_WAITING)

    async def arriving(self) -> AsyncIterator[bytes]:
        """Each line that is not blank, until the input ends. One that is too long comes empty."""
        threading.Thread(target=self._read, name="stdio-read", daemon=True).start()
        while True:
            line = await self._arrived.get()
            if line is None:
                return
            self._room.release()
            yield line

    def _read(self) -> None:
        # A loop that is closed by now wants no more lines.
        with contextlib.suppress(RuntimeError):
            for line in self._split():
                self._room.acquire()
                self._loop.call_soon_threadsafe(self._arrived.put_nowait, line)
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, None)

    def _split(self) -> Iterator[bytes]:
        rest, too_long = b"", False
        while chunk := self._chunk():
            *complete, rest = (rest + chunk).split(b"\n")
            for line in complete:
                if too_long or len(line) > self._limit:
                    yield b""
                elif line.strip():
                    yield line
                too_long = False
            if len(rest) > self._limit:
                rest, too_long = b"", True
        if rest.strip() and not too_long:
            yield rest

    def _chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, CHUNK)
        except OSError:
            return b""


class Writer:
    """Writes lines from a thread of its own: a client that does not read holds up nobody else."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Event]] = queue.SimpleQueue()
        self._broken = asyncio.Event()
        threading.Thread(target=self._write, name="stdio-write", daemon=True).start()

    async def broken(self) -> None:
        """Return when nobody reads any more."""
        await self._broken.wait()

    async def write(self, text: str) -> None:
        """Return when the line is written, or when it never will be."""
        written = asyncio.Event()
        self._waiting.put((text.encode() + b"\n", written))
        await written.wait()

    def _write(self) -> None:
        # A loop that is closed by now waits for nothing any more.
        with contextlib.suppress(RuntimeError):
            while True:
                data, written = self._waiting.get()
                try:
                    while data:
                        data = data[os.write(self._descriptor, data) :]
                except OSError:
                    self._loop.call_soon_threadsafe(self._broken.set)
                self._loop.call_soon_threadsafe(written.set)
