"""Checks of Redis and of what works through it: the workers, the beat, the queues."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import celery
from health_check.exceptions import ServiceUnavailable
from kombu.exceptions import KombuError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from typing_extensions import override

from health.checks.base import DependencyCheck, Overrun, ThreadedCheck
from tools.guards.redis import connect, disconnect

# Names of workers; see controlplane/runtime/programs.py.
NOT_PIPELINES: Final = r"^(?!pipelines-)"
POLL_SECONDS: Final = 0.1
# When the beat last went round, in seconds since 1970; see controlplane/beat.py.
BEAT_KEY: Final = "cp:beat"
# The beat goes round at least every two seconds.
BEAT_SILENT_SECONDS: Final = 6.0


@dataclass
class OverRedis(DependencyCheck):
    """A check that asks Redis, over a connection of its own."""

    url: str = field(repr=False)

    @override
    async def run(self) -> float:
        client = connect(self.url, timeout=self.timeout.total_seconds())
        try:
            started = time.perf_counter()
            await self.ask(client)
            return time.perf_counter() - started
        except RedisTimeoutError as fault:
            raise Overrun("Redis did not answer in time") from fault
        except (RedisError, OSError) as fault:
            raise ServiceUnavailable("Redis cannot be reached") from fault
        finally:
            await disconnect(client)

    async def ask(self, client: Any) -> None:
        raise NotImplementedError


@dataclass
class Redis(OverRedis):
    """PING."""

    name: ClassVar[str] = "redis"

    @override
    async def ask(self, client: Any) -> None:
        await client.ping()


@dataclass
class Beat(OverRedis):
    """The beat has gone round of late. It writes down when, each time."""

    name: ClassVar[str] = "beat"

    @override
    async def ask(self, client: Any) -> None:
        written = await client.get(BEAT_KEY)
        if written is None:
            raise ServiceUnavailable("The beat does not run")
        silent = time.time() - float(written)
        if silent > BEAT_SILENT_SECONDS:
            raise ServiceUnavailable(f"The beat has been silent for {silent:.0f} s")


@dataclass
class Queues(OverRedis):
    """No queue holds more messages than workers can be expected to get through."""

    name: ClassVar[str] = "queues"

    queues: Sequence[str] = field(default=(), repr=False)
    most: int = 1000

    @override
    async def ask(self, client: Any) -> None:
        async with client.pipeline(transaction=False) as pipeline:
            for queue in self.queues:
                pipeline.llen(queue)
            depths = dict(zip(self.queues, await pipeline.execute(), strict=True))
        self.details = {queue: depth for queue, depth in depths.items() if depth}
        deep = [f"{queue} ({depth})" for queue, depth in depths.items() if depth > self.most]
        if deep:
            raise ServiceUnavailable(f"More than {self.most} messages wait in {', '.join(deep)}")


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
