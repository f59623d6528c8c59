"""How upstream servers fare: what each process reports of its connection, and their breakers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tools.guards.breaker import Breakers, BreakerSnapshot, BreakerState
from tools.guards.redis import RedisLink
from tools.models import UpstreamServer
from tools.services.breaker_status import breaker_configs
from tools.services.over_redis import RedisDown, over_redis
from tools.upstreams import ConnectionState, breaker_name
from tools.upstreams.states import STATE_KEY, STATE_SECONDS

__all__ = ["ProcessReport", "RedisDown", "ServerStatus", "upstream_status"]

# Processes tell every 10 s, but for while they try to connect; that may take a minute.
OLDEST_SECONDS: Final = 80.0
# The states of several processes are summed up by the one that most needs a look.
_BY_URGENCY: Final = (
    ConnectionState.FAILED,
    ConnectionState.DEGRADED,
    ConnectionState.CONNECTING,
    ConnectionState.CONNECTED,
    ConnectionState.SHUTTING_DOWN,
    ConnectionState.DISCONNECTED,
    ConnectionState.NOT_CONFIGURED,
)


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """One process' connection to a server, as it told last."""

    process: str
    lifecycle: ConnectionState
    connection_state: str
    initialization_time: float
    last_health_check: datetime | None
    since: datetime | None
    protocol_version: str
    process_handle: int | None
    failures: int
    error: str
    tools: int
    error_lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server over all processes. Without reports nobody has connected since it was saved."""

    breaker: BreakerSnapshot
    reports: tuple[ProcessReport, ...] = ()

    @property
    def state(self) -> ConnectionState:
        """The state that most needs a look; an open breaker makes a working connection degraded."""
        states = {report.lifecycle for report in self.reports}
        worst = next((one for one in _BY_URGENCY if one in states), ConnectionState.NOT_CONFIGURED)
        hurt = self.breaker.state is not BreakerState.CLOSED
        return ConnectionState.DEGRADED if hurt and worst is ConnectionState.CONNECTED else worst


def upstream_status(servers: Iterable[UpstreamServer]) -> dict[int, ServerStatus]:
    """How these servers fare, by key.

    Raises:
        RedisDown: nobody knows.
    """
    rows = [(row.pk, row.slug, breaker_name(row.slug)) for row in servers]
    configs = breaker_configs()

    async def ask(link: RedisLink) -> dict[int, ServerStatus]:
        breakers = Breakers(link, configs)
        return {
            pk: ServerStatus(await breakers.snapshot(name), await _reports(link, slug))
            for pk, slug, name in rows
        }

    return over_redis(ask)


async def _reports(link: RedisLink, slug: str) -> tuple[ProcessReport, ...]:
    key = STATE_KEY.format(slug=slug)
    flat = await link.command("HGETALL", key)
    told = {name: json.loads(text) for name, text in zip(flat[::2], flat[1::2], strict=True)}
    now = time.time()
    # A process that was killed cannot take back what it said.
    dead = [name for name, report in told.items() if now - report["at"] > STATE_SECONDS]
    if dead:
        await link.command("HDEL", key, *dead)
    fresh = {name: one for name, one in told.items() if now - one["at"] <= OLDEST_SECONDS}
    return tuple(_report(name, fresh[name]) for name in sorted(fresh))


def _report(process: str, told: Mapping[str, Any]) -> ProcessReport:
    copied = "connection_state initialization_time protocol_version process_handle failures error"
    return ProcessReport(
        process=process,
        lifecycle=ConnectionState(told["lifecycle"]),
        last_health_check=_moment(told["last_health_check"]),
        since=_moment(told["since"]),
        tools=len(told["discovered_tools"]),
        error_lines=tuple(told.get("error_lines", ())),
        **{name: told[name] for name in copied.split()},
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
