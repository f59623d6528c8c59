"""One child: started under a guard, talked to by lines, ended with everything it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

from tools.backends.upstream.channel import ChannelFault
from tools.backends.upstream.children.commands import AllowedCommand
from tools.backends.upstream.children.leftovers import MARK, end_marked
from tools.backends.upstream.children.limits import places
from tools.backends.upstream.children.pipes import LineReader, Writer

_GUARD: Final = str(Path(__file__).with_name("guard.py"))
# For a server to leave by itself once its input ends, and for the guard to end one that does not.
_POLITE_SECONDS: Final = 1.0
_GUARD_SECONDS: Final = 8.0
# For the last words of a child that ended to arrive, and for the guard to tell how it ended.
_LAST_WORDS_SECONDS: Final = 2.0
_LONGEST_ERROR_LINE: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class Sinks:
    """Who gets what a child says. `on_end` is told once why nothing more will come."""

    on_line: Callable[[bytes], None]
    on_error_line: Callable[[bytes], None]
    on_long_line: Callable[[], None]
    on_end: Callable[[str], None]
    most_bytes: int


class Child:
    """A running command. Made by `start_child`."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        lifeline: int,
        memory_mb: int,
        sinks: Sinks,
    ) -> None:
        self.pid = 0
        self._mark = mark
        self._process = process
        self._memory_mb = memory_mb
        self._sinks = sinks
        self._verdict = ""
        self._input = Writer()
        # However this object goes, the guard learns of it.
        self._lifeline = weakref.finalize(self, os.close, lifeline)
        loop = asyncio.get_running_loop()
        self._started: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()
        self._output = LineReader(sinks.on_line, sinks.most_bytes, sinks.on_long_line)
        self._errors = LineReader(sinks.on_error_line, _LONGEST_ERROR_LINE, lambda: None)
        self._report = LineReader(self._reported, _LONGEST_ERROR_LINE, lambda: None)
        self._transports: list[asyncio.BaseTransport] = []
        self._watching: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    async def connect(self, report: int) -> None:
        """Take hold of its streams and wait until the command runs.

        Raises:
            ChannelFault: it could not be started.
        """
        loop = asyncio.get_running_loop()
        holding = loop.create_task(self._take_hold(report))
        try:
            await asyncio.shield(holding)
        except asyncio.CancelledError:
            # What was not taken hold of could not be let go of either.
            await asyncio.wait([holding])
            raise
        self._watching = loop.create_task(self._watch())
        await asyncio.wait((self._started, self._over), return_when=asyncio.FIRST_COMPLETED)
        if not self._started.done():
            raise ChannelFault(self._verdict or "it could not be started", sent=False)

    async def write(self, raw: bytes) -> bool:
        """Send a line; False when the child takes no more and nothing was sent."""
        return await self._input.write(raw + b"\n")

    async def verdict(self) -> None:
        """Wait until it was told how the child ended; a child that lives is not waited for long."""
        if self._watching is not None:
            await asyncio.wait((self._watching,), timeout=_LAST_WORDS_SECONDS)

    async def end(self) -> None:
        """End it and everything it started; goes on though the caller is cancelled."""
        await asyncio.shield(self.end_soon())

    def end_soon(self) -> asyncio.Task[None]:
        """The ending of it, under way."""
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())
        return self._ending

    async def _take_hold(self, report: int) -> None:
        loop = asyncio.get_running_loop()
        streams = (
            (self._process.stdout, self._output),
            (self._process.stderr, self._errors),
            (os.fdopen(report, "rb", buffering=0), self._report),
        )
        for file, reader in streams:
            transport, _ = await loop.connect_read_pipe(partial(_itself, reader), file)
            self._transports.append(transport)
        await loop.connect_write_pipe(lambda: self._input, self._process.stdin)

    def _reported(self, line: bytes) -> None:
        word, _, rest = line.decode(errors="replace").partition(" ")
        match word:
            case "started":
                self.pid = int(rest)
                _settle(self._started)
                return
            case "memory":
                self._verdict = f"killed: used more than {self._memory_mb} MB"
            case "failed":
                self._verdict = f"cannot be started: {rest.lower()}"
            case "ended" if not self._verdict:
                self._verdict = _ending(int(rest))
        _settle(self._over)

    async def _watch(self) -> None:
        """Tell once how it ended, after its last words have been heard."""
        try:
            ends = {self._over, self._output.ended, self._report.ended}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            # What is written now nobody reads, and must not count as sent.
            self._input.close(now=True)
            last = {self._over, self._output.ended, self._errors.ended}
            await asyncio.wait(last, timeout=_LAST_WORDS_SECONDS)
            self._sinks.on_end(self._verdict or "closed its output")
        except asyncio.CancelledError:
            if self._ending is None:
                # The loop is being shut down; nobody will call `end` any more.
                self._lifeline()
                self._await_elsewhere()
            raise

    async def _end(self) -> None:
        try:
            self._input.close()
            if not await _within(self._report.ended, _POLITE_SECONDS):
                self._lifeline()
                self._input.close(now=True)
                if not await _within(self._report.ended, _GUARD_SECONDS):
                    self._kill()
            while self._process.poll() is None:
                await asyncio.sleep(0.005)
            if self._process.returncode < 0:
                await asyncio.to_thread(end_marked, self._mark)
        finally:
            self._lifeline()
            self._let_go()

    def _kill(self) -> None:
        """The guard itself does not answer."""
        for group in filter(None, (self._process.pid, self.pid)):
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)

    def _let_go(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        self._input.close(now=True)
        for transport in self._transports:
            transport.close()
        if self._process.poll() is None:
            self._await_elsewhere()
        else:
            places.give_back()

    def _await_elsewhere(self) -> None:
        """The guard is about to end by itself, and must be taken in when it does."""
        threading.Thread(target=_take_in, args=(self._process,), daemon=True).start()


async def start_child(
    entry: AllowedCommand, environment: dict[str, str], memory_mb: int, sinks: Sinks
) -> Child:
    """Start a command of the allow-list.

    Raises:
        ChannelFault: it cannot be started, or there are too many.
    """
    places.take()
    lifeline_end, lifeline = os.pipe()
    report, report_end = os.pipe()
    limits = [str(lifeline_end), str(report_end), str(memory_mb)]
    mark = uuid4().hex
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", _GUARD, *limits, *entry.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=entry.directory,
            env={**environment, MARK: mark},
            pass_fds=(lifeline_end, report_end),
            start_new_session=True,
        )
    except OSError as fault:
        places.give_back()
        os.close(lifeline)
        os.close(report)
        raise ChannelFault(f"cannot be started: {fault.strerror}", sent=False) from None
    finally:
        os.close(lifeline_end)
        os.close(report_end)
    child = Child(process, mark, lifeline, memory_mb, sinks)
    try:
        await child.connect(report)
    except BaseException:
        await child.end()
        raise
    return child


def _ending(status: int) -> str:
    if status >= 0:
        return f"exited with status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _itself(reader: LineReader) -> LineReader:
    return reader


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _within(future: asyncio.Future[None], seconds: float) -> bool:
    done, _ = await asyncio.wait((future,), timeout=seconds)
    return bool(done)


def _take_in(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    places.give_back()
