"""Recent figures of calls, each question answered by one reading a second at most."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from asgiref.sync import sync_to_async
from django.db import Error as DatabaseError
from django.db import connection

from tools.backends.memo import Memo
from tools.errors import TransportFault
from tools.figures import CallStatistics
from tools.selectors.figures import By, Chosen, aligned, call_figures
from tools.selectors.journal import Retries, error_retries

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

RANGES: Final = {
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
DEFAULT_RANGE: Final = "1h"
FRESH_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class RecentCalls:
    """The calls of one range up to `as_of`, and those of each group when that was asked for."""

    time_range: str
    as_of: datetime
    calls: CallStatistics
    groups: Mapping[str, CallStatistics] = field(default_factory=dict)

    @property
    def queries_per_minute(self) -> float:
        return self.calls.queries_per_minute


# Where there are many figures a reading takes a while: at most a tenth of the time goes into it, and
# nobody waits for one whose predecessor is at hand. `as_of` tells how old the figures are.
_kept: Memo[Any] = Memo(FRESH_SECONDS, rest=10, grace=4)


async def recent_calls(
    time_range: str, tool_names: frozenset[str] | None = None, by: By | None = None
) -> RecentCalls:
    """What happened to calls within `time_range`; `as_of` is usually less than a second ago.

    The range begins at the nearest full minute, or hour where minutes are no longer kept.

    Raises:
        TransportFault: when the database cannot be read.
    """
    reading = partial(_calls, time_range, tool_names, by)
    found: RecentCalls = await kept_for_a_moment(("calls", time_range, tool_names, by), reading)
    return found


async def recent_retries(time_range: str) -> Retries:
    """How calls went that followed a failed one, of the latest within `time_range`.

    Raises:
        TransportFault: when the database cannot be read.
    """
    found: Retries = await kept_for_a_moment(("retries", time_range), partial(_retries, time_range))
    return found


async def kept_for_a_moment(name: tuple[Any, ...], reading: Callable[[], Value]) -> Value:
    """What `reading` finds in the database, now or a moment ago.

    Raises:
        TransportFault: when the database cannot be read.
    """
    found: Value = await _kept.get(name, partial(_read, reading))
    return found


def forget() -> None:
    """Drop what is kept; the next question is answered from the database."""
    _kept.clear()


async def _read(reading: Callable[[], Value]) -> Value:
    try:
        return await sync_to_async(_query, thread_sensitive=False)(reading)
    except DatabaseError as fault:
        logger.warning("Figures of calls cannot be read", exc_info=True)
        raise TransportFault("Figures of calls cannot be read at the moment", 5) from fault


def _query(reading: Callable[[], Value]) -> Value:
    try:
        return reading()
    finally:
        # Threads of the executor come and go; none may keep a connection or hold a pool's.
        connection.close()


def _calls(time_range: str, tool_names: frozenset[str] | None, by: By | None) -> RecentCalls:
    until = datetime.now(UTC)
    since = aligned(until - RANGES[time_range], until)
    found = call_figures(since, until, by=by, chosen=Chosen(tools=tool_names))
    return RecentCalls(time_range, until, found.total, found.groups)


def _retries(time_range: str) -> Retries:
    until = datetime.now(UTC)
    return error_retries(until - RANGES[time_range], until)
