"""How far the objectives are kept, and how much of what may fail has failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection

from health.models.objectives import Counting, ServiceLevelObjective
from tools.backends.memo import Memo
from tools.errors import ErrorCode
from tools.selectors.endings import Ended, endings

OWN: Final = frozenset({ErrorCode.INTERNAL_ERROR.value, ErrorCode.SERVICE_UNAVAILABLE.value})
BEHIND: Final = frozenset({ErrorCode.EXECUTION_ERROR.value, ErrorCode.TIMEOUT.value})
# Bad requests are neither good nor bad calls.
NOT_OURS: Final = frozenset(
    {
        ErrorCode.INVALID_ARGUMENTS.value,
        ErrorCode.TOOL_NOT_FOUND.value,
        ErrorCode.RATE_LIMITED.value,
    }
)
SERVICE: Final = "service"
FRESH_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Attainment:
    """How one objective stands. Percents are None without calls.

    `burnt` is the share of the error budget that is used up: at 1 the promise is just kept, above it
    is broken. `slow_burnt` is the same of response times, None where nothing is promised of them.
    """

    name: str
    target_percent: float
    window_days: int
    calls: int
    failed: int
    availability_percent: float | None
    burnt: float
    latency_ms: int | None = None
    latency_target_percent: float | None = None
    within_percent: float | None = None
    slow_burnt: float | None = None

    @property
    def is_met(self) -> bool:
        return self.burnt <= 1 and (self.slow_burnt or 0.0) <= 1

    def to_wire(self) -> dict[str, Any]:
        return {
            "met": self.is_met,
            "window_days": self.window_days,
            "calls": self.calls,
            "target_percent": self.target_percent,
            "availability_percent": self.availability_percent,
            "budget_burnt": round(self.burnt, 4),
            "latency_ms": self.latency_ms,
            "latency_target_percent": self.latency_target_percent,
            "within_latency_percent": self.within_percent,
            "latency_budget_burnt": None if self.slow_burnt is None else round(self.slow_burnt, 4),
        }


_kept: Memo[list[Attainment]] = Memo(FRESH_SECONDS, rest=20, grace=4)


def attainments(now: datetime | None = None) -> list[Attainment]:
    """How each enabled objective stands.

    Raises:
        DatabaseError: nobody knows.
    """
    now = now or datetime.now(UTC)
    rows = list(ServiceLevelObjective.objects.filter(enabled=True))
    found: list[Attainment] = []
    for days in sorted({row.window_days for row in rows}):
        alike = [row for row in rows if row.window_days == days]
        timed = {row.tool for row in alike if row.latency_ms is not None}
        ended = endings(now - timedelta(days=days), now, timed)
        found += [attainment(row, ended) for row in alike]
    return sorted(found, key=lambda one: one.name)


async def current_attainments() -> list[Attainment]:
    """The same for an event loop, at most a minute old; none while the database is away."""

    def read() -> list[Attainment]:
        try:
            return attainments()
        finally:
            connection.close()

    try:
        return await _kept.get("", sync_to_async(read, thread_sensitive=False))
    except DatabaseError:
        return []


def attainment(row: ServiceLevelObjective, ended: Mapping[str, Iterable[Ended]]) -> Attainment:
    """How an objective stands, given how calls ended by tool; "" has those of all tools."""
    bad = OWN if row.counting == Counting.OWN else OWN | BEHIND
    counted = [one for one in ended.get(row.tool, ()) if one.code not in NOT_OURS]
    calls = sum(one.calls for one in counted)
    failed = sum(one.calls for one in counted if one.code in bad)
    target = float(row.availability_percent)
    within, slow_burnt = None, None
    if row.latency_ms is not None:
        timed = [one for one in counted if not one.code]
        successes = sum(one.sketch.count for one in timed)
        quick = sum(one.sketch.within(row.latency_ms) for one in timed)
        within = 100.0 * quick / successes if successes else None
        slow_burnt = _burnt(successes - quick, successes, float(row.latency_percent))
    return Attainment(
        name=row.tool or SERVICE,
        target_percent=target,
        window_days=row.window_days,
        calls=calls,
        failed=failed,
        availability_percent=100.0 * (calls - failed) / calls if calls else None,
        burnt=_burnt(failed, calls, target),
        latency_ms=row.latency_ms,
        latency_target_percent=float(row.latency_percent) if row.latency_ms is not None else None,
        within_percent=within,
        slow_burnt=slow_burnt,
    )


def _burnt(bad: int, calls: int, target_percent: float) -> float:
    """The share of what may be bad that is. A promise of 100 % is broken by the first that is."""
    if not bad:
        return 0.0
    allowed = calls * (100.0 - target_percent) / 100.0
    return bad / allowed if allowed > 0 else 1.0 + bad
