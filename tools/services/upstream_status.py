"""How upstream servers fare: what each process reports of its connection, and their breakers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tools.guards.breaker import Breakers, BreakerSnapshot, BreakerState
from tools.guards.redis import RedisLink
from tools.models import UpstreamServer
from tools.services.breaker_status import breaker_configs
from tools.services.over_redis import RedisDown, glance
from tools.services.upstream_reports import ProcessReport, read_reports
from tools.upstreams import ConnectionState, breaker_name

__all__ = ["ProcessReport", "RedisDown", "ServerStatus", "upstream_status"]

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
        # All at once: a page shows many servers.
        snapshots = await asyncio.gather(*(breakers.snapshot(name) for _, _, name in rows))
        reports = await asyncio.gather(*(read_reports(link, slug) for _, slug, _ in rows))
        told = zip(rows, snapshots, reports, strict=True)
        return {pk: ServerStatus(snapshot, given) for (pk, _, _), snapshot, given in told}

    return glance(ask)
