"""Tallies as people ask for them: counts, rates and percentiles of a stretch of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tools.errors import CallStatus
from tools.figures.tally import Number, Tally

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


class Gathered:
    """Tallies of calls that ended in several ways, on their way to become statistics."""

    __slots__ = ("by_code", "by_status", "by_tool", "tally")

    def __init__(self) -> None:
        self.tally = Tally()
        self.by_status: Counter[str] = Counter()
        self.by_code: Counter[str] = Counter()
        self.by_tool: Counter[str] = Counter()

    def add(
        self, tool: str, status: str, code: str, numbers: Sequence[float], sketches: str
    ) -> None:
        """Add tallies: the sums of their numbers, and their sketches as written, with commas between."""
        calls = int(numbers[Number.CALLS])
        self.by_status[status] += calls
        self.by_code[code] += calls
        self.by_tool[tool] += calls
        self.tally.merge(numbers, sketches=sketches)

    def include(self, other: Gathered) -> None:
        """Add what another gathered."""
        self.by_status.update(other.by_status)
        self.by_code.update(other.by_code)
        self.by_tool.update(other.by_tool)
        self.tally.include(other.tally)

    def statistics(self, minutes: float) -> CallStatistics:
        """What was gathered, as that of `minutes` minutes."""
        number = {each: int(self.tally[each]) for each in Number}
        timed, shortened = number[Number.TIMED], number[Number.SHORTENED]
        p50, p95, p99 = self.tally.sketch.percentiles(SHARES)
        successful = self.by_status[CallStatus.SUCCESS.value]
        timeout = self.by_status[CallStatus.TIMEOUT.value]
        return CallStatistics(
            total=number[Number.CALLS],
            successful=successful,
            failed=number[Number.CALLS] - successful - timeout,
            timeout=timeout,
            by_code=ranked(self.by_code),
            by_tool=dict(list(ranked(self.by_tool).items())[:LISTED_TOOLS]),
            average_ms=self.tally[Number.TIME_MS] / timed if timed else None,
            p50_ms=p50,
            p95_ms=p95,
            p99_ms=p99,
            cache_hits=number[Number.CACHE_HITS],
            cache_misses=number[Number.CACHE_MISSES],
            tokens_before=number[Number.TOKENS_BEFORE],
            tokens_after=number[Number.TOKENS_AFTER],
            shortened=shortened,
            shortened_by_percent=self.tally[Number.SAVED_PERCENT] / shortened
            if shortened
            else None,
            validation_attempts=number[Number.VALIDATED] + number[Number.INVALID_REFUSED],
            invalid_refused=number[Number.INVALID_REFUSED],
            invalid_passed=number[Number.INVALID_PASSED],
            minutes=minutes,
        )


def ranked(counts: Counter[str]) -> dict[str, int]:
    """Most first, then by name; what has no name is left out."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered if name}
