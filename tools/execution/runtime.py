"""What one process needs to run calls: the catalogue in memory, the guards, the journal.

Opened once per process and event loop: by the web application's lifespan, by a command for the
time it runs. `current()` hands it to the entrypoints.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.db import DatabaseError, connection

from tools.backends.ports import ports
from tools.backends.registry import Registry, registry
from tools.conf import ConfigurationFault, ServiceSettings, deployment
from tools.contracts import Caller, ServiceState, ToolSpec, next_service_state
from tools.errors import Starting
from tools.execution.ending import end
from tools.execution.journal import CallRecord, Journal, Observer
from tools.execution.lookup import Directory
from tools.execution.validation import Validators
from tools.guards.breaker import STANDARD_CONFIGS, Breakers, CircuitBreakerConfig
from tools.guards.cache import ResultCache
from tools.guards.call_tasks import CallTasks
from tools.guards.concurrency import Slots
from tools.guards.kept_results import KeptResults
from tools.guards.rate import RateLimiter
from tools.guards.redis import (
    CATALOGUE_KEY,
    JOURNAL_STREAM,
    REFUSED_STREAM,
    RedisDown,
    RedisLink,
)
from tools.guards.relay import Relay
from tools.oauth.current import accepting_tokens
from tools.selectors import Catalogue, catalogue_version, load_catalogue
from tools.tracing import start_tracing, stop_tracing

logger = logging.getLogger(__name__)

LOOK_EVERY: Final = 0.25
GAUGE_EVERY: Final = 1.0
LEASE_SECONDS: Final = 3.0
# How long the database's own number may go unread while Redis says that nothing changed.
TRUST_REDIS_FOR: Final = 5.0
MOST_DISCOVERIES: Final = 1000


class Runtime:
    """The parts of a running process that calls share."""

    def __init__(self, url: str, spool: Path, began: float | None = None) -> None:
        # The one that calls run on, for threads that have to start some there.
        self.loop: asyncio.AbstractEventLoop | None = None
        self.link = RedisLink(url)
        self.registry: Registry = registry
        self.rate = RateLimiter(self.link)
        # A killed process gives its slots back after this long.
        self.slots = Slots(self.link, lease_seconds=LEASE_SECONDS)
        self._breaker_configs = dict(STANDARD_CONFIGS)
        self.breakers = Breakers(self.link, self._breaker_configs)
        self.cache = ResultCache(self.link)
        self.kept = KeptResults(self.link)
        self.tasks = CallTasks(
            self.link,
            keep_seconds=deployment().task_keep_seconds,
            start_seconds=deployment().task_start_seconds,
            most_open=deployment().tasks_per_caller,
        )
        self.relay = Relay(self.link, url)
        self.journal = Journal(self.link, body_bytes=deployment().journal_body_bytes, spool=spool)
        self.directory = Directory(Catalogue())
        self.validators = Validators()
        self.observers: list[Observer] = []
        self.state = ServiceState.INITIALIZING
        self.counters: Counter[str] = Counter()
        # Seconds from a client's connecting to its first list of tools, the latest ones.
        self.discovery_times: deque[float] = deque(maxlen=MOST_DISCOVERIES)
        # Open MCP connections now and at their most, where there are doors for them.
        self.connections: Callable[[], tuple[int, int]] | None = None
        self.changed: list[Callable[[Directory, Directory], None]] = []
        self.in_flight = 0
        self.peak_in_flight = 0
        self.started_at = datetime.now(UTC)
        self.startup_seconds = 0.0
        # When the process began, if it was started to serve; else this is where serving begins.
        self._began = time.monotonic() if began is None else began
        self._traced = False
        self._gauges: dict[str, Any] = {
            "cache": {},
            "journal_backlog": None,
            "journal_refused": None,
        }

    @property
    def settings(self) -> ServiceSettings:
        return self.directory.catalogue.settings

    @property
    def stopping(self) -> bool:
        return self.state in {ServiceState.SHUTTING_DOWN, ServiceState.STOPPED}

    def use(self, catalogue: Catalogue) -> None:
        """Serve from this catalogue from now on; calls under way keep the one they began with."""
        before, self.directory = self.directory, Directory(catalogue)
        for name, (threshold, recovery) in catalogue.breakers.items():
            self._breaker_configs[name] = CircuitBreakerConfig(threshold, recovery)
        for listener in self.changed:
            listener(before, self.directory)
        logging.getLogger().setLevel(catalogue.settings.logging_level)

    def visible_tools(self, caller: Caller) -> tuple[ToolSpec, ...]:
        """The tools `caller` may call, as of now."""
        return self.directory.visible(caller)

    def become(self, following: ServiceState) -> None:
        """Move on in the life of the process; raises IllegalTransition on a skip."""
        self.state = next_service_state(self.state, following)

    def observe(self, following: ServiceState) -> None:
        """Take over what health checks saw, unless the process is on its way out."""
        if not self.stopping and self.state is not ServiceState.INITIALIZING:
            self.become(following)

    def ready(self) -> None:
        """The catalogue is loaded; calls may come."""
        start_tracing(lambda: self.settings.service_name)
        self._traced = True
        self.startup_seconds = time.monotonic() - self._began
        self.become(ServiceState.HEALTHY)

    def count(self, what: str) -> None:
        """Count something that happened in this process."""
        self.counters[what] += 1

    def enter(self) -> None:
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)

    def leave(self, record: CallRecord) -> None:
        self.in_flight -= 1
        for observer in self.observers:
            observer(record)

    def live(self) -> Mapping[str, Any]:
        """What this process knows about itself, for the built-in tools."""
        now, peak = self.connections() if self.connections is not None else (None, None)
        return {
            "current_connections": now,
            "peak_connections": peak,
            "discovery_times": tuple(self.discovery_times),
            "long_running_updates_sent": self.counters["progress_updates"],
            "started_at": self.started_at,
            "startup_seconds": self.startup_seconds,
            "state": self.state.value,
            "in_flight": self.in_flight,
            "peak_in_flight": self.peak_in_flight,
            "redis_available": self.link.available,
            "catalogue_version": self.directory.catalogue.version,
            "tools": len(self.directory.catalogue.tools),
            **self._gauges,
        }

    async def refresh_gauges(self) -> None:
        """Read what only Redis knows, so that asking for it costs nothing."""
        spaces = {spec.source.value for spec in self.directory.catalogue.tools.values()}
        try:
            backlog = int(await self.link.command("XLEN", JOURNAL_STREAM))
            refused = int(await self.link.command("XLEN", REFUSED_STREAM))
        except RedisDown:
            self._gauges = {"cache": {}, "journal_backlog": None, "journal_refused": None}
            return
        cache = {space: await self.cache.stats(space) for space in sorted(spaces)}
        self._gauges = {
            "cache": {
                space: {"entries": stats.entries, "hits": stats.hits, "misses": stats.misses}
                for space, stats in cache.items()
            },
            "journal_backlog": backlog,
            "journal_refused": refused,
        }

    async def close(self) -> None:
        await self.slots.close()
        await self.journal.aclose()
        await self.link.close()
        if self._traced:
            await asyncio.to_thread(stop_tracing)


_current: Runtime | None = None


def current() -> Runtime:
    """The runtime of this process.

    Raises:
        Starting: before there is one.
    """
    if _current is None:
        raise Starting
    return _current


def serving() -> Runtime:
    """The runtime of this process, once it has a catalogue to serve from.

    Raises:
        Starting: before that.
    """
    runtime = current()
    if runtime.state is ServiceState.INITIALIZING:
        raise Starting
    return runtime


@asynccontextmanager
async def open_runtime(*, wait: bool = True, began: float | None = None) -> AsyncIterator[Runtime]:
    """Serve from the catalogue and keep it up to date.

    With `wait` the catalogue is there on entry and failing to read it raises; without, the process
    is up at once, answers that it is starting, and tries until the database can be read. `began` is
    when the process was started, on the monotonic clock.
    """
    global _current  # noqa: PLW0603 - one runtime per process is the point
    spool = Path(django_settings.VAR_DIR) / "journal-spool"
    runtime = Runtime(deployment().redis_url, spool, began)
    runtime.loop = asyncio.get_running_loop()
    watcher = CatalogueWatcher(runtime)
    _current = runtime
    ports.live = runtime.live
    ports.read_result = runtime.kept.read
    ports.visible_tools = runtime.visible_tools
    ports.link = runtime.link
    watching: asyncio.Task[None] | None = None
    try:
        if wait:
            await watcher.reload()
        watching = asyncio.create_task(watcher.run())
        async with accepting_tokens(deployment().oauth):
            yield runtime
    finally:
        if watching is not None:
            await end(watching)
        while ports.endings:
            await ports.endings.pop()()
        await runtime.close()
        ports.link = None
        _current = None


class CatalogueWatcher:
    """Reloads the catalogue when its number moves: in Redis, or in the database if Redis is away."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._seen: str | None = None
        self._database_read_at = time.monotonic()

    async def run(self) -> None:
        gauged_at = 0.0
        while True:
            try:
                await self.look()
                if time.monotonic() - gauged_at >= GAUGE_EVERY:
                    gauged_at = time.monotonic()
                    await self._runtime.refresh_gauges()
            except (DatabaseError, ConfigurationFault) as fault:
                logger.warning("The catalogue stays as it was: %s", fault)
            except Exception:
                # The watcher must outlive any single fault, or changes stop arriving.
                logger.exception("Looking at the catalogue failed on a bug")
            await asyncio.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Compare once and reload if needed."""
        loaded = self._runtime.state is not ServiceState.INITIALIZING
        number = await self._number_in_redis()
        quiet = number is not None and number == self._seen
        if quiet and loaded and not self._database_is_due():
            return
        if not loaded or await _in_thread(catalogue_version) != self._version():
            await self.reload()
        # Remembered last: what could not be read is looked at again at once.
        self._seen = number
        self._database_read_at = time.monotonic()

    def _version(self) -> int:
        return self._runtime.directory.catalogue.version

    async def reload(self) -> None:
        """Read the catalogue anew and serve from it."""
        catalogue = await _in_thread(load_catalogue)
        self._runtime.use(catalogue)
        if self._runtime.state is ServiceState.INITIALIZING:
            self._runtime.ready()
        logger.info("Catalogue version %d: %d tools", catalogue.version, len(catalogue.tools))

    async def _number_in_redis(self) -> str | None:
        """The number as Redis has it; None while Redis is away."""
        try:
            return str(await self._runtime.link.command("GET", CATALOGUE_KEY))
        except RedisDown:
            return None

    def _database_is_due(self) -> bool:
        return time.monotonic() - self._database_read_at >= TRUST_REDIS_FOR


async def _in_thread(function: Any) -> Any:
    def work() -> Any:
        try:
            return function()
        finally:
            connection.close()

    return await sync_to_async(work, thread_sensitive=False)()
