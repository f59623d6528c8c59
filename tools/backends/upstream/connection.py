"""The one connection of this process to one server: opened when needed, replaced when it breaks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from tools.backends.upstream.channel import ChannelFault, Garbage, Refused
from tools.backends.upstream.discovery import (
    Announced,
    Items,
    announced_arguments,
    by_name,
    discover,
    list_tools,
)
from tools.backends.upstream.negotiation import NotMcp
from tools.backends.upstream.session import RpcError, Session
from tools.upstreams import (
    NO_TOOLS,
    ConnectionReport,
    ConnectionState,
    Discovered,
    Kind,
    Upstream,
    fingerprint,
    next_state,
)

logger = logging.getLogger(__name__)

# Failures in a row that make a connection count as degraded.
DEGRADED_AFTER: Final = 5
# How long a call waits for a server that was away when it was last tried.
DOWN_PATIENCE: Final = 0.5
# A server that has just been found away is not tried again for every call.
PAUSE_SECONDS: Final = 0.25
SETTLE_SECONDS: Final = 0.1
RETIRE_SECONDS: Final = 60.0
# Lines of a child's error output that outlast it.
KEPT_LINES: Final = 20

# Takes what a server offers, each time it was found out.
Found = Callable[[Upstream, Discovered], Awaitable[None]]


class Down(ChannelFault):
    """The server could not be connected to, so nothing was asked of it.

    `settled` says that it is there, and another attempt would come to the same.
    """

    def __init__(self, message: str, *, settled: bool = False) -> None:
        super().__init__(message, sent=False)
        self.settled = settled


class Connection:
    """How one server is reached. Sessions come and go; this stays for as long as the process."""

    def __init__(self, upstream: Upstream, found: Found | None = None) -> None:
        self.upstream = upstream
        self.state = ConnectionState.NOT_CONFIGURED
        self.since = datetime.now(UTC)
        self.error = ""
        # In a row, and ever: who watches must not miss one that a success has followed.
        self.failures = 0
        self.all_failures = 0
        self.initialization_time = 0.0
        self.last_health_check: datetime | None = None
        self.used_at = time.monotonic()
        # Requests that are under way for callers.
        self.in_use = 0
        # Set when somebody should look after the connection at once.
        self.attention = asyncio.Event()
        self.tools: Mapping[str, str] = {}
        self.announced: Mapping[str, Announced] = {}
        self._found = found
        self._session: Session | None = None
        self._opening: asyncio.Task[Session] | None = None
        self._failed_at = 0.0
        # What was said last about a server that is away; saying it at every attempt helps nobody.
        self._warned = ""
        self._last_words: deque[str] = deque(maxlen=KEPT_LINES)
        self._relisting: asyncio.Task[None] | None = None
        # Whether the server may offer something else than what was listed last.
        self.stale = False
        self._closed = False
        # Sessions that were given up, until they are closed.
        self._leaving: set[Session] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def live(self) -> Session | None:
        """The session, if there is one that works."""
        session = self._session
        return session if session is not None and not session.broken else None

    async def session(self, patience: float) -> Session:
        """A session that works; connects if there is none, waiting no longer than `patience`.

        Raises:
            Down: there is none to be had now. Connecting goes on.
        """
        self.used_at = time.monotonic()
        if (session := self.live) is not None:
            return session
        if self._closed:
            # Whoever still holds this connection must not start what nobody would end.
            raise Down("it was changed or removed")
        pause = 0.0
        if self.state is ConnectionState.FAILED:
            # Refusing at once would also refuse who comes just after the server has returned.
            pause = max(0.0, self._failed_at + PAUSE_SECONDS - time.monotonic())
            patience = min(patience, pause + DOWN_PATIENCE)
        opening = self.begin(pause)
        await asyncio.wait([opening], timeout=patience)
        if not opening.done():
            raise Down(self.error or "it does not answer")
        if opening.cancelled():
            raise Down("the connection was closed")
        return opening.result()

    def begin(self, pause: float = 0.0) -> asyncio.Task[Session]:
        """Connect after a `pause`, unless that is under way."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(pause))
            self._opening.add_done_callback(self._opened)
        return self._opening

    def lose(self, session: Session, why: str) -> None:
        """Use `session` no more: the server has gone, or forgotten it. Others may still end there."""
        if self._session is session:
            self._session = None
            self._last_words.extend(session.channel.error_lines)
            self.error = why
            self.attention.set()
            self._leaving.add(session)
            self._spawn(self._retire(session))

    def succeeded(self) -> None:
        """The server did what was asked, perhaps in a session that is being replaced."""
        if self.state is ConnectionState.CONNECTED:
            self.failures = 0
        elif self.state is ConnectionState.DEGRADED:
            self.failures = 0
            if self.tools:
                self.error = ""
                self._become(ConnectionState.CONNECTED)

    def failed(self, why: str) -> None:
        """The server did not, though it could be reached."""
        self.failures += 1
        self.all_failures += 1
        self.error = why
        self.attention.set()
        if self.failures >= DEGRADED_AFTER and self.state is ConnectionState.CONNECTED:
            self._become(ConnectionState.DEGRADED)

    def list_changed(self) -> None:
        """The server offers something else now."""
        self.stale = True
        if self._relisting is None or self._relisting.done():
            self._relisting = self._spawn(self._relist())

    async def disconnect(self) -> None:
        """Hang up for now; the next call connects again, also while this one still hangs up."""
        session, self._session = self._session, None
        self._become(ConnectionState.SHUTTING_DOWN)
        self._become(ConnectionState.DISCONNECTED)
        if session is not None:
            self._leaving.add(session)
            await session.close()
            self._leaving.discard(session)
            self._last_words.extend(session.channel.error_lines)

    async def close(self) -> None:
        """Hang up for good, and be done with sessions that were given up before."""
        self._closed = True
        if self.state is not ConnectionState.DISCONNECTED:
            self._become(ConnectionState.SHUTTING_DOWN)
        for task in self._tasks:
            task.cancel()
        await self._end()
        # A task that was cancelled before it began has not closed its session.
        await asyncio.gather(*(session.close() for session in self._leaving))
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        if self.state is ConnectionState.SHUTTING_DOWN:
            self._become(ConnectionState.DISCONNECTED)

    def report(self) -> ConnectionReport:
        """The connection as it is now."""
        live = self.live
        state = self.state
        if live is None and state in {ConnectionState.CONNECTED, ConnectionState.DEGRADED}:
            # It broke and nobody has tried again yet.
            state = ConnectionState.CONNECTING
        return ConnectionReport(
            server_name=self.upstream.name,
            transport_type=self.upstream.transport,
            connection_state=state,
            discovered_tools=tuple(self.tools),
            initialization_time=self.initialization_time,
            last_health_check=self.last_health_check,
            process_handle=None if live is None else live.channel.process_handle,
            protocol_version="" if live is None else live.agreed.version,
            failures=self.failures,
            error=self.error,
            since=self.since,
        )

    def error_lines(self) -> list[str]:
        """What the children of this connection wrote to their error output last."""
        now = () if self._session is None else self._session.channel.error_lines
        return [*self._last_words, *now][-KEPT_LINES:]

    async def _open(self, pause: float) -> Session:
        if pause:
            await asyncio.sleep(pause)
        upstream, began = self.upstream, time.monotonic()
        returns = self.state is ConnectionState.FAILED
        self._become(ConnectionState.CONNECTING)
        if (old := self._session) is not None:
            self.lose(old, old.broken)
        session = Session(upstream, self.list_changed)
        try:
            async with asyncio.timeout(upstream.connect_timeout):
                await session.open()
                tools = await list_tools(session)
        except BaseException as fault:
            await asyncio.shield(session.close())
            self._last_words.extend(session.channel.error_lines)
            if isinstance(fault, ChannelFault | RpcError | TimeoutError):
                raise self._unreachable(fault) from fault
            raise
        self.initialization_time = time.monotonic() - began
        self._session = session
        if returns:
            self.failures = 0
        self._warned = ""
        self.stale = False
        self._use(tools)
        self.last_health_check = datetime.now(UTC)
        logger.info(
            "Connected to %s in %.3f s: %d tools, protocol %s",
            upstream.slug,
            self.initialization_time,
            len(tools),
            session.agreed.version,
        )
        self._spawn(self._find(session, tools))
        return session

    def _opened(self, opening: asyncio.Task[Session]) -> None:
        self._opening = None
        self.attention.set()
        fault = None if opening.cancelled() else opening.exception()
        if fault is not None and not isinstance(fault, Down):
            logger.error("Connecting to %s failed on a bug", self.upstream.slug, exc_info=fault)
            self._unreachable(fault)

    def _unreachable(self, fault: BaseException) -> Down:
        seconds = self.upstream.connect_timeout
        late = isinstance(fault, TimeoutError)
        why = f"it did not answer within {seconds:g} s" if late else str(fault) or "it failed"
        if why != self._warned:
            self._warned = why
            logger.warning("%s cannot be reached: %s", self.upstream.slug, why)
        self.error, self._failed_at = why, time.monotonic()
        self.failures += 1
        self.all_failures += 1
        if self.state is ConnectionState.CONNECTING:
            self._become(ConnectionState.FAILED)
        return Down(why, settled=isinstance(fault, Garbage | NotMcp | Refused | RpcError))

    def _use(self, tools: Items) -> None:
        """These are the tools there are now, as they are defined now."""
        named = by_name(tools)
        self.tools = {name: fingerprint(Kind.TOOL, tool) for name, tool in named.items()}
        self.announced = {name: announced_arguments(tool) for name, tool in named.items()}
        if self.tools:
            # That it lists its tools does not say that calls work again.
            works = self.failures < DEGRADED_AFTER
            self.error = "" if works else self.error
            self._become(ConnectionState.CONNECTED if works else ConnectionState.DEGRADED)
            return
        self.error = NO_TOOLS
        logger.critical("%s: %s", self.upstream.slug, NO_TOOLS)
        self._become(ConnectionState.DEGRADED)

    async def _relist(self) -> None:
        """List until nothing has changed since; what changes while listing may not be in the list."""
        while self.stale:
            # Servers that change many tools say so many times.
            await asyncio.sleep(SETTLE_SECONDS)
            if (session := self.live) is None:
                return
            self.stale = False
            try:
                async with asyncio.timeout(self.upstream.connect_timeout):
                    tools = await list_tools(session)
            except (ChannelFault, RpcError, TimeoutError) as fault:
                self.stale = True
                if self.live is session:
                    self.failed(f"its tools could not be listed again: {fault}")
                return
            if self._session is not session:
                # Who connects anew lists anew, and knows better.
                return
            self._use(tools)
            await self._find(session, tools)

    async def _find(self, session: Session, tools: Items) -> None:
        if self._found is None:
            return
        try:
            async with asyncio.timeout(4 * self.upstream.connect_timeout):
                found = await discover(session, tools, self.initialization_time)
        except (ChannelFault, RpcError, TimeoutError) as fault:
            logger.warning(
                "What %s offers beside tools is not known: %s", self.upstream.slug, fault
            )
            agreed = session.agreed
            found = Discovered(
                protocol_version=agreed.version,
                server_info=agreed.server_info,
                instructions=agreed.instructions,
                tools=tools,
                seconds=self.initialization_time,
                tools_only=True,
            )
        if self._session is not session:
            # Who connected anew lists anew; the older list must not come after the newer one.
            return
        try:
            await self._found(self.upstream, found)
        except Exception:
            logger.exception("What %s offers could not be recorded", self.upstream.slug)

    async def _retire(self, session: Session) -> None:
        """Close a session once the requests under way in it have ended, or after a while."""
        try:
            async with asyncio.timeout(RETIRE_SECONDS):
                await session.quiet()
        except TimeoutError:
            pass
        finally:
            await asyncio.shield(session.close())
            self._leaving.discard(session)

    async def _end(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if (session := self._session) is not None:
            self._session = None
            await session.close()
            self._last_words.extend(session.channel.error_lines)

    def _become(self, following: ConnectionState) -> None:
        if following is self.state:
            return
        self.state = next_state(self.state, following)
        self.since = datetime.now(UTC)
        self.attention.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
