"""Recent figures of the request log, each question answered by one reading a second at most."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from asgiref.sync import sync_to_async
from django.db import Error as DatabaseError
from django.db import connection

from tools.backends.memo import Memo
from tools.errors import TransportFault
from tools.selectors.journal import CallStatistics, call_statistics

logger = logging.getLogger(__name__)

RANGES: Final = {
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
}
DEFAULT_RANGE: Final = "1h"
FRESH_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class RecentCalls:
    """The calls of one range up to `as_of`."""

    time_range: str
    as_of: datetime
    calls: CallStatistics

    @property
    def queries_per_minute(self) -> float:
        return self.calls.total / (RANGES[self.time_range] / timedelta(minutes=1))


# Over a long log a reading takes a while: at most a tenth of the time goes into it, and nobody
# waits for one whose predecessor is at hand. `as_of` tells how old the figures are.
_kept: Memo[RecentCalls] = Memo(FRESH_SECONDS, rest=10, grace=4)


async def recent_calls(time_range: str, tool_names: frozenset[str] | None = None) -> RecentCalls:
    """What happened to calls within `time_range`; `as_of` is usually less than a second ago.

    Raises:
        TransportFault: when the database cannot be read.
    """
    return await _kept.get((time_range, tool_names), partial(_read, time_range, tool_names))


def forget() -> None:
    """Drop what is kept; the next question is answered from the database."""
    _kept.clear()


async def _read(time_range: str, tool_names: frozenset[str] | None) -> RecentCalls:
    until = datetime.now(UTC)
    since = until - RANGES[time_range]
    try:
        calls = await sync_to_async(_query, thread_sensitive=False)(since, until, tool_names)
    except DatabaseError as fault:
        logger.warning("The request log cannot be read", exc_info=True)
        raise TransportFault("The request log cannot be read at the moment", 5) from fault
    return RecentCalls(time_range=time_range, as_of=until, calls=calls)


def _query(since: datetime, until: datetime, tool_names: frozenset[str] | None) -> CallStatistics:
    try:
        return call_statistics(since, until, tool_names)
    finally:
        # Threads of the executor come and go; none may keep a connection or hold a pool's.
        connection.close()
