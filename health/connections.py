"""How many database connections this process has open, of how many it may have."""

from __future__ import annotations

import threading
from typing import Any, Final
from weakref import WeakSet

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


class OpenConnections:
    """Knows every connection that was opened since it began to listen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: WeakSet[BaseDatabaseWrapper] = WeakSet()

    def listen(self) -> None:
        connection_created.connect(self._created, dispatch_uid="health.connections")

    def count(self, alias: str) -> int:
        with self._lock:
            seen = list(self._seen)
        return sum(
            1 for wrapper in seen if wrapper.alias == alias and wrapper.connection is not None
        )

    def _created(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        with self._lock:
            self._seen.add(connection)


open_connections: Final = OpenConnections()


def pool_usage(alias: str = "default") -> str:
    """Connections in use and the most there can be, as `5/20`.

    PostgreSQL: of the process's pool. SQLite has no pool; each thread may hold one connection.
    """
    pool = getattr(connections[alias], "pool", None)
    if pool is not None:
        stats = pool.get_stats()
        return f"{stats['pool_size'] - stats['pool_available']}/{stats['pool_max']}"
    in_use = open_connections.count(alias)
    return f"{in_use}/{max(in_use, threading.active_count())}"
