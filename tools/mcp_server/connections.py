"""How many clients a listener serves at the same time, and the refusal of the one too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from typing_extensions import override

from tools.contracts import Transport
from tools.errors import ConnectionLimitExceeded

# A client of Streamable HTTP has a stream open for notices while it makes a call.
HELD_BY_ONE_CLIENT: Final = 2


class Connections:
    """Counts the clients of this process per transport: those with a request under way or a stream."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._open: Counter[Transport] = Counter()
        self._held: Counter[tuple[Transport, str]] = Counter()
        self.current = self.peak = 0

    def admit(self, transport: Transport, client: str = "") -> AbstractContextManager[None]:
        """Hold one connection. Where `client` tells clients apart, two of the same count as one.

        Raises:
            ConnectionLimitExceeded: the listener has as many as it may.
        """
        key = (transport, client)
        added = 1 if not client or self._held[key] + 1 != HELD_BY_ONE_CLIENT else 0
        count, limit = self._open[transport], self._limit()
        if count + added > limit:
            raise ConnectionLimitExceeded(limit, count)
        self._open[transport] += added
        self._held[key] += 1
        self.current += added
        self.peak = max(self.peak, self.current)
        return _Admitted(self, key)

    def leave(self, key: tuple[Transport, str]) -> None:
        """Give back one connection."""
        transport, client = key
        if not client or self._held[key] != HELD_BY_ONE_CLIENT:
            self._open[transport] -= 1
            self.current -= 1
        self._held[key] -= 1
        if not self._held[key]:
            del self._held[key]


class _Admitted(AbstractContextManager[None]):
    """One connection that is held. A class, as every message has one and a generator costs more."""

    __slots__ = ("_connections", "_key")

    def __init__(self, connections: Connections, key: tuple[Transport, str]) -> None:
        self._connections = connections
        self._key = key

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connections.leave(self._key)
