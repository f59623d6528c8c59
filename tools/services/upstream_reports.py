"""What processes tell of their connections to upstream servers, read from Redis."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from tools.guards.redis import RedisLink
from tools.upstreams import ConnectionState
from tools.upstreams.states import STATE_KEY, STATE_SECONDS

# Processes tell every 10 s, but for while they try to connect; that may take a minute.
OLDEST_SECONDS: Final = 80.0


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


async def read_reports(link: RedisLink, slug: str) -> tuple[ProcessReport, ...]:
    """What processes told of late of their connections to a server; what is too old is removed."""
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
