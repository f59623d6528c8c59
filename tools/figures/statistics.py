"""Tallies as people ask for them: counts, rates and percentiles of a stretch of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from tools.errors import CallStatus
from tools.figures.summed import Summed
from tools.figures.tally import Number

LISTED_TOOLS: Final = 50
SHARES: Final = (0.50, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class CallStatistics:
    """Finished calls of `minutes` minutes.

    `total` is `successful + failed + timeout`. Counts and the average are exact, percentiles within
    1 %; times are None when there is nothing to measure. `by_tool` has the busiest tools only, most
    calls first; names that are no tool are left out.
    `invalid_refused` counts invalid requests stopped before the backend, `invalid_passed` those
    that only the backend found invalid.
    """

    total: int = 0
    successful: int = 0
    failed: int = 0
    timeout: int = 0
    by_code: Mapping[str, int] = field(default_factory=dict)
    by_tool: Mapping[str, int] = field(default_factory=dict)
    average_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None
    cache_hits: int = 0
    cache_misses: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    shortened: int = 0
    shortened_by_percent: float | None = None
    validation_attempts: int = 0
    invalid_refused: int = 0
    invalid_passed: int = 0
    minutes: float = 0.0

    @property
    def error_rate(self) -> float:
        """Share of calls that did not succeed, from 0 to 1."""
        return (self.failed + self.timeout) / self.total if self.total else 0.0

    @property
    def queries_per_minute(self) -> float:
        return self.total / self.minutes if self.minutes else 0.0


def statistics(
    calls: Summed, minutes: float, by_tool: Mapping[str, int] = MappingProxyType({})
) -> CallStatistics:
    """Sums as those of `minutes` minutes."""
    # By the places of `Number`.
    number = [int(one) for one in calls.numbers]
    timed, shortened = number[Number.TIMED], number[Number.SHORTENED]
    p50, p95, p99 = calls.times().percentiles(SHARES)
    by_status: Counter[str] = Counter()
    by_code: Counter[str] = Counter()
    for (status, code), count in calls.endings.items():
        by_status[status] += count
        by_code[code] += count
    successful = by_status[CallStatus.SUCCESS.value]
    timeout = by_status[CallStatus.TIMEOUT.value]
    return CallStatistics(
        total=number[Number.CALLS],
        successful=successful,
        failed=number[Number.CALLS] - successful - timeout,
        timeout=timeout,
        by_code=ranked(by_code),
        by_tool=dict(list(ranked(by_tool).items())[:LISTED_TOOLS]),
        average_ms=calls[Number.TIME_MS] / timed if timed else None,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        cache_hits=number[Number.CACHE_HITS],
        cache_misses=number[Number.CACHE_MISSES],
        tokens_before=number[Number.TOKENS_BEFORE],
        tokens_after=number[Number.TOKENS_AFTER],
        shortened=shortened,
        shortened_by_percent=calls[Number.SAVED_PERCENT] / shortened if shortened else None,
        validation_attempts=number[Number.VALIDATED] + number[Number.INVALID_REFUSED],
        invalid_refused=number[Number.INVALID_REFUSED],
        invalid_passed=number[Number.INVALID_PASSED],
        minutes=minutes,
    )


def ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """Most first, then by name; what has no name is left out."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered if name}
