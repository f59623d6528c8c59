"""What tests of the guards share: waiting on the event loop, a Valkey to break, a proxy to count."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import redis

from tests.processes import start_valkey
from tools.guards.redis import RedisLink


async def eventually(
    condition: Callable[[], Awaitable[bool]], timeout: float = 15, what: str = "the condition"
) -> None:
    """Poll on the event loop until `condition` holds; fail loudly when it never does."""
    try:
        async with asyncio.timeout(timeout):
            while not await condition():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"{what} did not come true within {timeout} s") from None


@asynccontextmanager
async def open_link(url: str) -> AsyncIterator[RedisLink]:
    """A link that is closed however the test ends."""
    link = RedisLink(url)
    try:
        yield link
    finally:
        await link.close()


class OwnValkey:
    """A server of one test: stopped, killed and started again at will. Its data outlives a kill."""

    def __init__(self) -> None:
        # Short: the path of a socket must not exceed 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="cp-own-"))
        self.socket = self.directory / "redis.sock"
        self.url = f"unix://{self.socket}"
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self.process = start_valkey(self.directory, self.socket)
        with redis.Redis(unix_socket_path=str(self.socket)) as client:
            # Otherwise the server may answer before it writes, while an earlier sync is under way.
            client.config_set("appendfsync", "always")

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait(10)
        self.process = None

    def pause(self) -> None:
        """Let the server hang: connections stand, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _signal(self, number: int) -> None:
        if self.process is not None:
            self.process.send_signal(number)


class Traffic:
    """What passed a counting proxy: connections made and bursts of bytes sent to the server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connections = 0
        self.bursts = 0


@asynccontextmanager
async def counting_proxy(server: str, socket: Path, *, delay: float = 0) -> AsyncIterator[Traffic]:
    """A proxy at `socket` for the server at the unix socket path `server`; may put bursts off."""
    traffic = Traffic(f"unix://{socket}")

    handlers: set[asyncio.Task[None]] = set()

    async def copy(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, count: bool
    ) -> None:
        try:
            while data := await reader.read(1 << 20):
                traffic.bursts += count
                await asyncio.sleep(delay if count else 0)
                writer.write(data)
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        traffic.connections += 1
        upstream_reader, upstream_writer = await asyncio.open_unix_connection(server)
        handlers.add(asyncio.create_task(copy(reader, upstream_writer, count=True)))
        handlers.add(asyncio.create_task(copy(upstream_reader, writer, count=False)))

    listener = await asyncio.start_unix_server(serve, str(socket))
    try:
        yield traffic
    finally:
        listener.close()
        for handler in handlers:
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        # One turn of the loop, in which the closed transports let go of their sockets.
        await asyncio.sleep(0)
