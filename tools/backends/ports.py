"""What backends need from the layers above them, filled in while the process starts.

Backends import neither `health` nor the call path; whoever owns a figure hands in the function
that reads it. A port left empty (a management command, a worker) means: not known in this process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.contracts import Caller, ToolSpec
from tools.guards.redis import RedisLink
from tools.upstreams import Discovered


@dataclass
class Ports:
    """What backends call and use.

    `health` gives the measured health: `status`, `database` {connected, response_time_ms,
    connection_pool_usage}, `dependencies`, `pipelines`, `checked_at`.
    `live` gives what this process knows of itself: `started_at`, `startup_seconds`, `state`,
    `in_flight`, `peak_in_flight`, `current_connections`, `peak_connections`, `discovery_times`,
    `long_running_updates_sent`, `redis_available`, `catalogue_version`, `tools`, `cache`,
    `journal_backlog`.
    `read_result` gives the kept text of an earlier answer: (result id, caller) -> text or None.
    `visible_tools` gives the tools a caller may see, in the catalogue as it is now.
    `discovered` records what an upstream server (by slug) was found to offer.
    `api_calls` counts the requests to HTTP APIs that this process has logged.
    `link` is the connection to Redis of the calls of this process; `endings` are called before it
    is closed.
    """

    health: Callable[[], Awaitable[Mapping[str, Any]]] | None = None
    live: Callable[[], Mapping[str, Any]] | None = None
    read_result: Callable[[str, str], Awaitable[str | None]] | None = None
    visible_tools: Callable[[Caller], tuple[ToolSpec, ...]] | None = None
    discovered: Callable[[str, Discovered], Awaitable[None]] | None = None
    link: RedisLink | None = None
    api_calls: int = 0
    endings: list[Callable[[], Awaitable[None]]] = field(default_factory=list)


ports = Ports()
