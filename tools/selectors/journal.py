"""Figures from the request log. Everything is counted by the database; nothing is estimated."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db.models import Case, Count, F, FloatField, Q, QuerySet, Sum, Value, When, Window
from django.db.models.functions import Cast, Lag, RowNumber

from tools.contracts import FINAL_STATES
from tools.errors import CallStatus, ErrorCode
from tools.models import ToolRequest

LISTED_TOOLS: Final = 50
SHARES: Final = (0.50, 0.95, 0.99)

_INVALID: Final = Q(code=ErrorCode.INVALID_ARGUMENTS.value)
_TOOL_FOUND: Final = ~Q(source="")
# The path notes this stage once the arguments were found good.
_VALIDATED: Final = Q(stages__has_key="validation")
_REFUSED: Final = _TOOL_FOUND & _INVALID & ~_VALIDATED
_SHORTENED: Final = Q(tokens_after__lt=F("tokens_before"))
_SAVED_PERCENT: Final = (
    Cast(F("tokens_before") - F("tokens_after"), FloatField()) * 100.0 / F("tokens_before")
)

# Everything but percentiles, for each way that calls of one tool ended: one pass over the rows.
_FIGURES: Final = {
    "calls": Count("pk"),
    "timed": Count("duration_ms"),
    "time": Sum("duration_ms", default=0.0),
    "hits": Count("pk", filter=Q(cache_hit=True)),
    "misses": Count("pk", filter=Q(cache_hit=False)),
    "before": Sum("tokens_before", filter=Q(tokens_after__isnull=False), default=0),
    "after": Sum("tokens_after", filter=Q(tokens_before__isnull=False), default=0),
    "shortened": Count("pk", filter=_SHORTENED),
    "saved": Sum(_SAVED_PERCENT, filter=_SHORTENED, default=0.0),
    "validated": Count("pk", filter=_VALIDATED),
    "refused": Count("pk", filter=_REFUSED),
    "passed": Count("pk", filter=_VALIDATED & _INVALID),
}
# What callers made up instead of a tool name is not repeated to other callers.
_LISTED_NAME: Final = Case(When(_TOOL_FOUND, then=F("tool_id")), default=Value(""))


@dataclass(frozen=True, slots=True)
class CallStatistics:
    """Finished calls of one stretch of time.

    `total` is `successful + failed + timeout`. Times are None when there is nothing to measure.
    `by_tool` has the busiest tools only, most calls first; names that are no tool are left out.
    `error_retries` counts failed calls that their caller followed by another of the same tool, and
    `error_retry_successes` those where that one succeeded.
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
    error_retries: int = 0
    error_retry_successes: int = 0

    @property
    def error_rate(self) -> float:
        """Share of calls that did not succeed, from 0 to 1."""
        return (self.failed + self.timeout) / self.total if self.total else 0.0


def call_statistics(
    since: datetime, until: datetime, tool_names: Collection[str] | None = None
) -> CallStatistics:
    """What happened to the calls that arrived from `since` until before `until`.

    `tool_names` None means calls of every tool, and of none.
    """
    calls = ToolRequest.objects.filter(
        received_at__gte=since,
        received_at__lt=until,
        state__in=[state.value for state in FINAL_STATES],
    ).order_by()
    if tool_names is not None:
        calls = calls.filter(tool_id__in=sorted(tool_names))
    sums, by = _grouped(calls)
    timed, shortened = sums["timed"], sums["shortened"]
    retries, retry_successes = _retries(calls)
    p50, p95, p99 = _percentiles(calls.filter(duration_ms__isnull=False), timed)
    successful = by["status"][CallStatus.SUCCESS.value]
    timeout = by["status"][CallStatus.TIMEOUT.value]
    return CallStatistics(
        total=sums["calls"],
        successful=successful,
        failed=sums["calls"] - successful - timeout,
        timeout=timeout,
        by_code=_ranked(by["code"]),
        by_tool=dict(list(_ranked(by["name"]).items())[:LISTED_TOOLS]),
        average_ms=sums["time"] / timed if timed else None,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        cache_hits=sums["hits"],
        cache_misses=sums["misses"],
        tokens_before=sums["before"],
        tokens_after=sums["after"],
        shortened=shortened,
        shortened_by_percent=sums["saved"] / shortened if shortened else None,
        validation_attempts=sums["validated"] + sums["refused"],
        invalid_refused=sums["refused"],
        invalid_passed=sums["passed"],
        error_retries=retries,
        error_retry_successes=retry_successes,
    )


def _grouped(calls: QuerySet[ToolRequest]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """The sum of each figure, and the number of calls by name, code and status."""
    sums: Counter[str] = Counter()
    by: dict[str, Counter[str]] = {"name": Counter(), "code": Counter(), "status": Counter()}
    for row in calls.annotate(name=_LISTED_NAME).values(*by).annotate(**_FIGURES):
        figures: dict[str, Any] = {name: row[name] for name in _FIGURES}
        sums.update(figures)
        for key, counter in by.items():
            counter[row[key]] += row["calls"]
    return sums, by


def _retries(calls: QuerySet[ToolRequest]) -> tuple[int, int]:
    """Failed calls that were tried again, and those of them that then worked."""
    before = Window(
        Lag("status"), partition_by=[F("caller"), F("tool_id")], order_by=["received_at", "pk"]
    )
    failures = [CallStatus.FAILURE.value, CallStatus.TIMEOUT.value]
    found = (
        calls.annotate(before=before)
        .filter(before__in=failures)
        .aggregate(tried=Count("pk"), worked=Count("pk", filter=Q(status=CallStatus.SUCCESS.value)))
    )
    return found["tried"], found["worked"]


def _ranked(counts: Counter[str]) -> dict[str, int]:
    """Most first, then by name; what has no name is left out."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered if name}


def _percentiles(timed: QuerySet[ToolRequest], count: int) -> tuple[float | None, ...]:
    """For each share the smallest time that at least so many calls kept to (nearest rank)."""
    if not count:
        return (None,) * len(SHARES)
    ranks = [math.ceil(share * count) for share in SHARES]
    numbered = timed.annotate(rank=Window(RowNumber(), order_by=F("duration_ms").asc()))
    found = dict(numbered.filter(rank__in=set(ranks)).values_list("rank", "duration_ms"))
    return tuple(found.get(rank) for rank in ranks)
