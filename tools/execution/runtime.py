"""What one process needs to run calls: the catalogue in memory, the guards, the journal.

Opened once per process and event loop: by the web application's lifespan, by a command for the
time it runs. `current()` hands it to the entrypoints.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
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
from tools.contracts import ServiceState, next_service_state
from tools.errors import Starting
from tools.execution.journal import CallRecord, Journal, Observer
from tools.execution.lookup import Directory
from tools.execution.validation import Validators
from tools.guards.breaker import Breakers
from tools.guards.cache import ResultCache
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
from tools.selectors import Catalogue, catalogue_version, load_catalogue

logger = logging.getLogger(__name__)

LOOK_EVERY: Final = 0.25
GAUGE_EVERY: Final = 1.0
LEASE_SECONDS: Final = 3.0
# How long the database's own number may go unread while Redis says that nothing changed.
TRUST_REDIS_FOR: Final = 5.0


class Runtime:
    """The parts of a running process that calls share."""

    def __init__(self, url: str, spool: Path) -> None:
        self.link = RedisLink(url)
        self.registry: Registry = registry
        self.rate = RateLimiter(self.link)
        # A killed process gives its slots back after this long.
        self.slots = Slots(self.link, lease_seconds=LEASE_SECONDS)
        self.breakers = Breakers(self.link)
        self.cache = ResultCache(self.link)
        self.kept = KeptResults(self.link)
        self.journal = Journal(self.link, body_bytes=deployment().journal_body_bytes, spool=spool)
        self.directory = Directory(Catalogue())
        self.validators = Validators()
        self.observers: list[Observer] = []
        self.state = ServiceState.INITIALIZING
        self.in_flight = 0
        self.peak_in_flight = 0
        self.started_at = datetime.now(UTC)
        self.startup_seconds = 0.0
        self._began = time.monotonic()
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
        self.directory = Directory(catalogue)
        logging.getLogger().setLevel(catalogue.settings.logging_level)

    def become(self, following: ServiceState) -> None:
        """Move on in the life of the process; raises IllegalTransition on a skip."""
        self.state = next_service_state(self.state, following)

    def observe(self, following: ServiceState) -> None:
        """Take over what health checks saw, unless the process is on its way out."""
        if not self.stopping and self.state is not ServiceState.INITIALIZING:
            self.become(following)

    def ready(self) -> None:
        """The catalogue is loaded; calls may come."""
        self.startup_seconds = time.monotonic() - self._began
        self.become(ServiceState.HEALTHY)

    def enter(self) -> None:
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)

    def leave(self, record: CallRecord) -> None:
        self.in_flight -= 1
        for observer in self.observers:
            observer(record)

    def live(self) -> Mapping[str, Any]:
        """What this process knows about itself, for the built-in tools."""
        return {
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
async def open_runtime(*, wait: bool = True) -> AsyncIterator[Runtime]:
    """Serve from the catalogue and keep it up to date.

    With `wait` the catalogue is there on entry and failing to read it raises; without, the process
    is up at once, answers that it is starting, and tries until the database can be read.
    """
    global _current  # noqa: PLW0603 - one runtime per process is the point
    runtime = Runtime(deployment().redis_url, Path(django_settings.VAR_DIR) / "journal-spool")
    watcher = CatalogueWatcher(runtime)
    _current = runtime
    ports.live = runtime.live
    ports.read_result = runtime.kept.read
    watching: asyncio.Task[None] | None = None
    try:
        if wait:
            await watcher.reload()
        watching = asyncio.create_task(watcher.run())
        yield runtime
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        await runtime.close()
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
