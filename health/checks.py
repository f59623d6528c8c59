"""The checks of what the service leans on, each with a stable name and a time limit.

Built on django-health-check's classes; the shipped checks are not used because their results are
keyed by reprs, their time limit adds a second, and the worker's asks twice. What a check raises as
`ServiceUnavailable` is shown to callers; the cause goes to the log only.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, Final

import celery
from django.db import Error as DatabaseError
from django.db import connections
from health_check.base import HealthCheck, HealthCheckResult
from health_check.exceptions import HealthCheckException, ServiceUnavailable
from kombu.exceptions import KombuError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from typing_extensions import override

from health.probe import Probe
from tools.guards.redis import connect

logger = logging.getLogger(__name__)

# Names of workers; see controlplane/runtime/programs.py.
NOT_PIPELINES: Final = r"^(?!pipelines-)"
POLL_SECONDS: Final = 0.1


class Overrun(HealthCheckException):
    """A check did not answer in time; nothing is known about its dependency."""

    message_type = "Unknown"


@dataclass
class DependencyCheck(HealthCheck):
    """One dependency. `run` returns how many seconds the dependency itself took to answer."""

    name: ClassVar[str]

    timeout: timedelta = field(default=timedelta(seconds=1), repr=False, kw_only=True)
    _logged: str | None = field(default=None, init=False, repr=False)

    @override
    async def get_result(self, executor: Executor | None = None) -> HealthCheckResult:
        """Run the check within its limit; never raises but for cancellation."""
        error: HealthCheckException | None = None
        seconds = 0.0
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                seconds = await self._answer()
        except TimeoutError:
            error = Overrun(f"No answer within {self.timeout.total_seconds():g} s")
        except HealthCheckException as fault:
            error = fault
        except Exception:
            logger.exception("The check of %s failed on a bug", self.name)
            error = ServiceUnavailable("The check failed")
        self._log(error)
        return HealthCheckResult(check=self, error=error, time_taken=seconds)

    async def _answer(self) -> float:
        return float(await self.run())

    def _log(self, error: HealthCheckException | None) -> None:
        """Say what changed; a dependency that stays down is not worth a line per check."""
        message = error.message if error else None
        if message == self._logged:
            return
        if error is None:
            logger.info("Dependency %s: connected again", self.name)
        else:
            logger.warning("Dependency %s: %s", self.name, message, exc_info=error.__cause__)
        self._logged = message


@dataclass
class ThreadedCheck(DependencyCheck):
    """A check whose work blocks. While one run hangs, the next ones answer at once: unknown."""

    probe: Probe[float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.probe = Probe(f"check-{self.name}")

    @override
    async def _answer(self) -> float:
        future = self.probe.submit(self.run)
        if future is None:
            raise Overrun("The last check has not answered yet")
        return await asyncio.wrap_future(future)


@dataclass
class Database(ThreadedCheck):
    """Reads one row that every migrated database has.

    A bare SELECT 1 would not notice a lost SQLite file: opening one that is missing creates it.
    """

    name: ClassVar[str] = "database"

    alias: str = "default"

    @override
    def run(self) -> float:
        connection = connections[self.alias]
        try:
            with connection.cursor() as cursor:
                started = time.perf_counter()
                cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
                cursor.fetchone()
                return time.perf_counter() - started
        except DatabaseError as fault:
            raise ServiceUnavailable("The database cannot be read") from fault
        finally:
            connection.close()


@dataclass
class Redis(DependencyCheck):
    """PING over a connection of its own."""

    name: ClassVar[str] = "redis"

    url: str = field(repr=False)

    @override
    async def run(self) -> float:
        client = connect(self.url, timeout=self.timeout.total_seconds())
        try:
            started = time.perf_counter()
            await client.ping()
            return time.perf_counter() - started
        except RedisTimeoutError as fault:
            raise Overrun("Redis did not answer in time") from fault
        except (RedisError, OSError) as fault:
            raise ServiceUnavailable("Redis cannot be reached") from fault
        finally:
            await client.aclose()


@dataclass
class Worker(ThreadedCheck):
    """Any one Celery worker answers a ping. Those that run nothing but queries do not count."""

    name: ClassVar[str] = "worker"

    app: celery.Celery = field(default_factory=lambda: celery.current_app, repr=False)

    # Of the time limit: the broker's client needs up to 0.3 s more to give up than it is told.
    PATIENCE: ClassVar[float] = 0.6

    @override
    def run(self) -> float:
        patience = self.timeout.total_seconds() * self.PATIENCE
        started = time.perf_counter()
        try:
            # Options of this connection alone: without max_retries a dead broker is tried for ever,
            # and with the default polling a missing worker takes over a second to notice.
            with self.app.connection_for_write(
                connect_timeout=patience,
                transport_options={
                    "max_retries": 0,
                    "socket_timeout": patience,
                    "socket_connect_timeout": patience,
                    "polling_interval": POLL_SECONDS,
                },
            ) as connection:
                replies = self.app.control.ping(
                    timeout=patience,
                    limit=1,
                    connection=connection,
                    pattern=NOT_PIPELINES,
                    matcher="pcre",
                )
        except (KombuError, RedisError, OSError) as fault:
            if isinstance(fault.__cause__ or fault, RedisTimeoutError | TimeoutError):
                raise Overrun("The message broker did not answer in time") from fault
            raise ServiceUnavailable("The message broker cannot be reached") from fault
        if not answered(replies):
            raise ServiceUnavailable("No worker answers")
        return time.perf_counter() - started


def answered(replies: list[dict[str, Any]] | None) -> bool:
    """Whether a ping's replies hold a pong."""
    return any(
        isinstance(answer, dict) and answer.get("ok") == "pong"
        for reply in replies or []
        for answer in reply.values()
    )
