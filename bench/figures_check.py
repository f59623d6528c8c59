"""Figures beside the journal: what each says of the same calls."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, Final

from tools.figures import BOUNDS, CallStatistics, Number, Tally
from tools.models import ToolRequest
from tools.selectors.figures import By, call_figures
from tools.selectors.totals import call_totals

SHARES: Final = {"p50_ms": 0.50, "p95_ms": 0.95, "p99_ms": 0.99}
ALLOWED: Final = 0.02
COLUMNS: Final = (
    *("tool_id", "source", "caller", "status", "code", "duration_ms", "cache_hit"),
    *("tokens_before", "tokens_after"),
)

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One comparison; `deviation` is the worst share that percentiles are off by, None for counts."""

    what: str
    journal: str
    figures: str
    holds: bool
    deviation: float | None = None


def compared(since: datetime, until: datetime) -> list[Finding]:
    """Everything that both know."""
    rows = list(ToolRequest.objects.filter(finished_at__isnull=False).values(*COLUMNS))
    for row in rows:
        # What callers made up instead of a name is not kept.
        row["tool"] = row["tool_id"] if row["source"] else ""
    total = call_figures(since, until).total
    findings = [*_counts(rows, total), *_percentiles("all calls", [(rows, total)])]
    for by in (By.TOOL, By.CALLER, By.SOURCE):
        findings += _grouped(rows, by, since, until)
    return [*findings, *_totals(rows)]


def _counts(rows: Sequence[Row], total: CallStatistics) -> list[Finding]:
    def count(test: Callable[[Row], bool]) -> int:
        return sum(map(test, rows))

    def tokens(name: str) -> int:
        return sum(row[name] or 0 for row in rows)

    codes = Counter(row["code"] for row in rows if row["code"])
    pairs = [
        ("calls", len(rows), total.total),
        ("successes", count(lambda row: row["status"] == "success"), total.successful),
        ("failures", count(lambda row: row["status"] == "failure"), total.failed),
        ("timeouts", count(lambda row: row["status"] == "timeout"), total.timeout),
        ("cache hits", count(lambda row: row["cache_hit"] is True), total.cache_hits),
        ("cache misses", count(lambda row: row["cache_hit"] is False), total.cache_misses),
        ("tokens before", tokens("tokens_before"), total.tokens_before),
        ("tokens after", tokens("tokens_after"), total.tokens_after),
    ]
    findings = [
        Finding(what, f"{left:,}", f"{right:,}", left == right) for what, left, right in pairs
    ]
    same = codes == Counter(total.by_code)
    return [
        *findings,
        Finding("calls by code", f"{len(codes)} codes", "the same" if same else "", same),
    ]


def _grouped(rows: Sequence[Row], by: By, since: datetime, until: datetime) -> list[Finding]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[by.value]].append(row)
    groups.pop("", None)
    found = call_figures(since, until, by=by, most=10_000).groups
    left = {name: Counter(row["status"] for row in mine) for name, mine in groups.items()}
    right = {
        name: +Counter(success=one.successful, failure=one.failed, timeout=one.timeout)
        for name, one in found.items()
    }
    counts = Finding(f"calls by {by}", f"{len(left)} of them", f"{len(right)}", left == right)
    pairs = [(mine, found[name]) for name, mine in groups.items() if name in found]
    return [counts, *_percentiles(f"by {by}", pairs)]


def _percentiles(what: str, pairs: Sequence[tuple[Sequence[Row], CallStatistics]]) -> list[Finding]:
    findings = []
    for name, share in SHARES.items():
        worst, left, right = 0.0, "", ""
        for rows, found in pairs:
            exact, told = nearest_rank(rows, share), getattr(found, name)
            off = abs(told - exact) / exact
            if off >= worst:
                worst, left, right = off, f"{exact:,.3f}", f"{told:,.3f}"
        findings.append(Finding(f"{name[:3]} ms, {what}", left, right, worst <= ALLOWED, worst))
    return findings


def nearest_rank(rows: Sequence[Row], share: float) -> float:
    """The smallest time that at least so many calls kept to."""
    times = sorted(row["duration_ms"] for row in rows if row["duration_ms"] is not None)
    return float(times[max(1, math.ceil(share * len(times))) - 1])


def _totals(rows: Sequence[Row]) -> list[Finding]:
    """What Prometheus is told: by tool, status and code, and the histogram."""
    left = Counter((row["tool"], row["source"], row["status"], row["code"]) for row in rows)
    right: Counter[tuple[str, ...]] = Counter()
    sums = Tally()
    for (tool, source, _, status, code), tally in call_totals().items():
        right[tool, source, status, code] += int(tally[Number.CALLS])
        sums.include(tally)
    times = [row["duration_ms"] for row in rows if row["duration_ms"] is not None]
    exact = [sum(time <= bound * 1000 for time in times) for bound in BOUNDS]
    buckets = [*exact, len(times)] == list(accumulate(sums.histogram))
    seconds = sum(times) / 1000, sums[Number.TIME_MS] / 1000
    return [
        Finding("counters", f"{len(left)} series", f"{len(right)}", left == right),
        Finding("histogram", f"{len(times):,} times", "the same" if buckets else "", buckets),
        Finding(
            "seconds in all",
            f"{seconds[0]:,.1f}",
            f"{seconds[1]:,.1f}",
            math.isclose(*seconds, rel_tol=1e-9),
        ),
    ]


def stretch(now: datetime) -> tuple[datetime, datetime]:
    """A stretch that holds every made-up call, in full hours."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    return hour - timedelta(hours=2), hour + timedelta(hours=1)
