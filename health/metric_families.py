"""Metrics about calls over all processes, from figures that the request log is written with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from tools.backends.statistics import RecentCalls
from tools.errors import CallStatus
from tools.figures import BOUNDS, Number, Tally
from tools.selectors.totals import TotalKey

# Stands for names that are no tool, and for what has no source.
UNKNOWN: Final = "unknown"
ALL: Final = "Over all processes and restarts."
BUSIEST_CALLERS: Final = 10
PERCENTILES: Final = ("p50", "p95", "p99")

Totals = Mapping[TotalKey, Tally]


def counters(totals: Totals, tools: Collection[str], dependencies: Collection[str]) -> list[Metric]:
    """What only ever grows. `tools` and `dependencies` are those that have series of their own."""
    return [
        _calls(totals, tools),
        _durations(totals),
        *_behind_tools(totals, dependencies),
        *_sums(totals),
    ]


def _calls(totals: Totals, tools: Collection[str]) -> Metric:
    family = CounterMetricFamily(
        "controlplane_calls",
        f"Calls that ended, of the tools in the catalogue; names that are no tool share one. {ALL}",
        labels=["tool", "status", "code"],
    )
    counts: Counter[tuple[str, str, str]] = Counter()
    for (tool, source, _, status, code), tally in totals.items():
        # A series that ends is no news to Prometheus; calls moved to another series would be.
        if tool in tools or not source:
            counts[tool if source else UNKNOWN, status, code] += int(tally[Number.CALLS])
    for labels, count in sorted(counts.items()):
        family.add_metric(labels, count)
    return family


def _durations(totals: Totals) -> Metric:
    family = HistogramMetricFamily(
        "controlplane_call_duration_seconds",
        f"How long calls took, by source of the tool. {ALL}",
        labels=["source"],
    )
    _add_histograms(family, totals, place=1)
    return family


def _behind_tools(totals: Totals, dependencies: Collection[str]) -> list[Metric]:
    """By upstream server, API and pipeline."""
    known = {key: tally for key, tally in totals.items() if key[2] and key[2] in dependencies}
    calls = CounterMetricFamily(
        "controlplane_dependency_calls",
        f"Calls that ended, by what is behind the tool: MCP server, API or pipeline. {ALL}",
        labels=["dependency", "status"],
    )
    counts: Counter[tuple[str, str]] = Counter()
    for (_, _, dependency, status, _), tally in known.items():
        counts[dependency, status] += int(tally[Number.CALLS])
    for labels, count in sorted(counts.items()):
        calls.add_metric(labels, count)
    durations = HistogramMetricFamily(
        "controlplane_dependency_call_duration_seconds",
        f"How long calls took, by what is behind the tool. {ALL}",
        labels=["dependency"],
    )
    _add_histograms(durations, known, place=2)
    return [calls, durations]


def _add_histograms(family: HistogramMetricFamily, totals: Totals, place: int) -> None:
    """One for each value at `place` of the keys. Buckets are counted, not estimated."""
    ends = [*(str(float(bound)) for bound in BOUNDS), "+Inf"]
    for name, tally in sorted(_summed(totals, place).items()):
        buckets = list(zip(ends, accumulate(tally.histogram), strict=True))
        family.add_metric([name], buckets=buckets, sum_value=tally[Number.TIME_MS] / 1000)


def _summed(totals: Totals, place: int) -> dict[str, Tally]:
    found: dict[str, Tally] = defaultdict(Tally)
    for key, tally in totals.items():
        found[key[place] or UNKNOWN].include(tally)
    return found


def _sums(totals: Totals) -> list[Metric]:
    sums = Tally()
    for tally in totals.values():
        sums.include(tally)
    return [
        _labelled(
            "controlplane_cache_lookups",
            f"Calls of cached tools, by whether the result was reused. {ALL}",
            "result",
            {"hit": sums[Number.CACHE_HITS], "miss": sums[Number.CACHE_MISSES]},
        ),
        _labelled(
            "controlplane_refusals",
            f"Calls over the caller's rate, and those that no slot of the tool came free for. {ALL}",
            "reason",
            {"rate": sums[Number.REFUSED_RATE], "slot": sums[Number.REFUSED_SLOT]},
        ),
        _labelled(
            "controlplane_invalid_calls",
            f"Calls with invalid arguments, by who noticed. {ALL}",
            "noticed",
            {
                "before_backend": sums[Number.INVALID_REFUSED],
                "by_backend": sums[Number.INVALID_PASSED],
            },
        ),
        _labelled(
            "controlplane_tokens",
            f"Tokens of answers under a budget, before and after shortening. {ALL}",
            "when",
            {"before": sums[Number.TOKENS_BEFORE], "after": sums[Number.TOKENS_AFTER]},
        ),
        CounterMetricFamily(
            "controlplane_shortened_answers",
            f"Answers that were shortened to their budget. {ALL}",
            value=sums[Number.SHORTENED],
        ),
    ]


def _labelled(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


def recent(calls: RecentCalls, callers: RecentCalls, tools: Collection[str]) -> list[Metric]:
    """The last minutes as gauges: percentiles are within 1 %, and left out without calls."""
    span = f"the last {calls.time_range} over all processes"
    counts = GaugeMetricFamily("controlplane_recent_calls", f"Calls of {span}.", labels=["status"])
    counts.add_metric([CallStatus.SUCCESS.value], calls.calls.successful)
    counts.add_metric([CallStatus.FAILURE.value], calls.calls.failed)
    counts.add_metric([CallStatus.TIMEOUT.value], calls.calls.timeout)
    families: list[Metric] = [counts]
    for name in PERCENTILES:
        value = getattr(calls.calls, f"{name}_ms")
        text = f"{name[1:]}th percentile of {span}, within 1 %."
        if value is not None:
            family = GaugeMetricFamily(f"controlplane_recent_{name}_seconds", text)
            family.add_metric([], value / 1000)
            families.append(family)
    by_tool = GaugeMetricFamily(
        "controlplane_recent_tool_seconds",
        f"Percentiles of the busiest tools of {span}, within 1 %.",
        labels=["tool", "percentile"],
    )
    for tool, found in calls.groups.items():
        for name in PERCENTILES:
            value = getattr(found, f"{name}_ms")
            if value is not None and tool in tools:
                by_tool.add_metric([tool, name], value / 1000)
    by_caller = GaugeMetricFamily(
        "controlplane_recent_caller_calls",
        f"Calls of the {BUSIEST_CALLERS} busiest callers of {span}.",
        labels=["caller"],
    )
    for caller, found in list(callers.groups.items())[:BUSIEST_CALLERS]:
        by_caller.add_metric([caller], found.total)
    return [*families, by_tool, by_caller]
