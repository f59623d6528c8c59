"""stdio: a child process that reads and writes messages, one a line."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Collection
from typing import Final

from typing_extensions import override

from tools.backends.upstream.channel import ChannelFault, Garbage, Listener, TooLarge
from tools.backends.upstream.children.child import Child, Sinks, start_child
from tools.backends.upstream.children.commands import allowed_command, child_environment
from tools.backends.upstream.children.log import ChildLog
from tools.backends.upstream.transports.duplex import DuplexChannel
from tools.backends.upstream.transports.sealed import opened_texts
from tools.backends.upstream.transports.wire import MOST_BYTES, TOO_LARGE, decode
from tools.context.redact import REDACTED, redact_line
from tools.upstreams import Upstream

logger = logging.getLogger(__name__)

# Servers print a greeting now and then; one that prints nothing else is no server.
_MOST_OTHER_LINES: Final = 20
_KEPT_ERROR_LINES: Final = 50
_LONGEST_LOGGED: Final = 2000
_LONGEST_TOLD: Final = 300
# Shorter values stand in too many words to be taken out of them.
_SHORTEST_SECRET: Final = 6


class StdioChannel(DuplexChannel):
    """Talks to a command of the allow-list that runs as our child."""

    def __init__(self, upstream: Upstream, listener: Listener) -> None:
        super().__init__(upstream, listener)
        self._child: Child | None = None
        self._other_lines = 0
        self.error_lines: deque[str] = deque(maxlen=_KEPT_ERROR_LINES)
        self._secrets: Collection[str] = ()
        self._log = ChildLog(upstream.slug)

    @override
    async def open(self) -> None:
        """Start the child; that it runs does not yet mean that it serves."""
        entry = allowed_command(self._upstream.command)
        configured = opened_texts(self._upstream.environment, "variables")
        self._secrets = [one for one in configured.values() if len(one) >= _SHORTEST_SECRET]
        sinks = Sinks(
            on_line=self._line,
            on_error_line=self._error_line,
            on_long_line=lambda: self._spoilt(TOO_LARGE, TooLarge),
            on_end=self._ended,
            most_bytes=MOST_BYTES,
        )
        self._broken = ""
        try:
            async with asyncio.timeout(self._upstream.connect_timeout):
                self._child = await start_child(
                    entry,
                    child_environment(entry, configured),
                    self._upstream.memory_mb,
                    sinks,
                )
        except TimeoutError:
            self._broken = "it could not be started in time"
            self._log.ended(self._broken)
            raise ChannelFault(self._broken, sent=False) from None
        except ChannelFault as fault:
            self._broken = self._broken or str(fault)
            self._log.ended(self._broken)
            raise
        self.process_handle = self._child.pid
        self._log.started(self._child.pid)

    @override
    async def close(self) -> None:
        """End the child and everything it started."""
        self._lost("it was closed")
        if self._child is not None:
            self._log.ended("was ended here: the connection was closed")
            await self._child.end()
        await self._log.flush()

    @override
    async def _write(self, raw: bytes) -> None:
        if self._child is not None and await self._child.write(raw):
            return
        if self._child is not None and not self._broken:
            # A program that is gone takes no input either, a moment before it is told how it went.
            await self._child.verdict()
        raise ChannelFault(self._broken or "it takes no more input", sent=False)

    def _line(self, line: bytes) -> None:
        if self._broken or not line.strip():
            return
        try:
            messages = decode(line)
        except Garbage as fault:
            self._other_lines += 1
            text = self._told(line)
            logger.debug("Upstream %s wrote no message: %s", self._upstream.slug, text)
            self._log.printed(text)
            if self._other_lines >= _MOST_OTHER_LINES:
                self._spoilt(str(fault), Garbage)
            return
        self._other_lines = 0
        for message in messages:
            self._arrived(message)

    def _spoilt(self, why: str, kind: type[Garbage]) -> None:
        """What it writes makes no sense: it is ended, whether or not somebody closes the channel."""
        self._log.ended(f"was ended here: {why}")
        self._lost(why, kind)
        if self._child is not None:
            self._child.end_soon()

    def _error_line(self, line: bytes) -> None:
        if text := self._told(line):
            self.error_lines.append(text)
            self._log.wrote(text)
            logger.info("Upstream %s: %s", self._upstream.slug, text)

    def _told(self, line: bytes) -> str:
        """A line as it may be shown."""
        text = line[:_LONGEST_LOGGED].decode(errors="replace").rstrip()
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return redact_line(text)

    def _ended(self, why: str) -> None:
        self._log.ended(why)
        self._lost(self._with_last_words(why))

    def _with_last_words(self, why: str) -> str:
        last = self.error_lines[-1] if self.error_lines else ""
        return f"{why}: {last[:_LONGEST_TOLD]}" if last else why
