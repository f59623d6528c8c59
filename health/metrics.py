"""What Prometheus reads at `GET /metrics`.

Counters and the histogram are those of the process that answers the scrape: with several web
processes behind one address, scrapes see one of them at a time and a counter may seem to step
back, which Prometheus takes for a restart. The `controlplane_recent_*` figures come from the
request log and cover every process. Labels are bounded: tools of the catalogue, statuses, codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from tools.backends.ports import ports
from tools.backends.server_metrics import ServerMetrics, figures_of
from tools.backends.statistics import RecentCalls, recent_calls
from tools.errors import CallStatus, ErrorCode, TransportFault
from tools.execution.runtime import Runtime
from tools.guards.breaker import BreakerState
from tools.guards.redis import JOURNAL_STREAM, RedisDown

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
UNKNOWN_TOOL: Final = "unknown"
RECENT: Final = "5m"

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
CALLS: Final = Counter(
    "controlplane_calls",
    "Calls that ended in this process.",
    ["tool", "status", "code"],
    registry=REGISTRY,
)
DURATION: Final = Histogram(
    "controlplane_call_duration_seconds",
    "How long calls took in this process, by source of the tool.",
    ["source"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
    registry=REGISTRY,
)
CACHE: Final = Counter(
    "controlplane_cache_lookups",
    "Calls of cached tools in this process, by whether the result was reused.",
    ["result"],
    registry=REGISTRY,
)
REFUSALS: Final = Counter(
    "controlplane_refusals",
    "Calls refused in this process: over the caller's rate, or no slot of the tool came free.",
    ["reason"],
    registry=REGISTRY,
)
REFUSAL_REASONS: Final = ("rate", "slot")
for _result in ("hit", "miss"):
    CACHE.labels(_result)
for _reason in REFUSAL_REASONS:
    REFUSALS.labels(_reason)


class EndedCall(Protocol):
    """What is counted of a call; `source` is empty when there is no such tool."""

    @property
    def tool(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def status(self) -> CallStatus | None: ...
    @property
    def code(self) -> ErrorCode | None: ...
    @property
    def duration_ms(self) -> float: ...
    @property
    def cache_hit(self) -> bool | None: ...
    @property
    def stages(self) -> Mapping[str, float]: ...


def observe_call(record: EndedCall) -> None:
    """Count one call that has ended."""
    found = bool(record.source)
    _calls(record.tool if found else UNKNOWN_TOOL, record.status, record.code).inc()
    _durations(record.source if found else UNKNOWN_TOOL).observe(record.duration_ms / 1000)
    if record.cache_hit is not None:
        CACHE.labels("hit" if record.cache_hit else "miss").inc()
    if record.code is ErrorCode.RATE_LIMITED:
        # The path notes the rate stage once it was passed; later refusals are for want of a slot.
        REFUSALS.labels("slot" if "rate" in record.stages else "rate").inc()


@lru_cache(maxsize=2048)
def _calls(tool: str, status: CallStatus | None, code: ErrorCode | None) -> Counter:
    return CALLS.labels(tool, status.value if status else "", code.value if code else "")


@lru_cache(maxsize=64)
def _durations(source: str) -> Histogram:
    return DURATION.labels(source)


class _Readings(Collector):
    """Figures read for one scrape."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    @override
    def collect(self) -> Iterable[Metric]:
        return self._families


async def exposition(runtime: Runtime) -> bytes:
    """All metrics in Prometheus' text format. What cannot be read now is left out."""
    families = [*_live(runtime.live()), *await _backlog(runtime), *await _breakers(runtime)]
    # An absent series is the honest answer while the database is away.
    with suppress(TransportFault):
        recent = await recent_calls(RECENT)
        families += [*_recent(recent), *_criteria(figures_of(recent.calls, runtime.live()))]
    readings = CollectorRegistry()
    readings.register(_Readings(families))
    return generate_latest(REGISTRY) + generate_latest(readings)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"controlplane_{name}", text, value=value)


def _live(live: Mapping[str, Any]) -> list[Metric]:
    return [
        _gauge("calls_in_flight", "Calls running in this process.", live["in_flight"]),
        _gauge("calls_in_flight_peak", "Most at once since start.", live["peak_in_flight"]),
        _gauge("tools", "Tools in the catalogue.", live["tools"]),
        _gauge("redis_available", "1 when Redis can be used.", float(live["redis_available"])),
        _gauge("api_calls_logged", "Requests to HTTP APIs.", ports.api_calls),
        _gauge("startup_seconds", "From start to ready.", live["startup_seconds"]),
        _gauge("start_time_seconds", "When it started.", live["started_at"].timestamp()),
    ]


async def _backlog(runtime: Runtime) -> list[Metric]:
    try:
        waiting = await runtime.link.command("XLEN", JOURNAL_STREAM)
    except RedisDown:
        return []
    return [_gauge("journal_backlog", "Journal events not yet in the database.", waiting)]


async def _breakers(runtime: Runtime) -> list[Metric]:
    names = await runtime.breakers.known()
    if not names:
        return []
    family = GaugeMetricFamily(
        "controlplane_breaker_state",
        "1 for the state each circuit breaker is in.",
        labels=["dependency", "state"],
    )
    for name in names:
        snapshot = await runtime.breakers.snapshot(name)
        for state in BreakerState:
            family.add_metric([name, state.value], float(snapshot.state is state))
    return [family]


def _criteria(figures: ServerMetrics) -> list[Metric]:
    """Those that there are data for."""
    family = GaugeMetricFamily(
        "controlplane_success_criterion",
        f"1 when the criterion held over the last {RECENT}.",
        labels=["criterion"],
    )
    unknown = set(figures.insufficient_data())
    for name, holds in figures.meets_success_criteria().items():
        if name not in unknown:
            family.add_metric([name], float(holds))
    return [family]


def _recent(recent: RecentCalls) -> list[Metric]:
    calls = recent.calls
    counts = GaugeMetricFamily(
        "controlplane_recent_calls",
        f"Calls of the last {RECENT} over all processes, from the request log.",
        labels=["status"],
    )
    counts.add_metric([CallStatus.SUCCESS.value], calls.successful)
    counts.add_metric([CallStatus.FAILURE.value], calls.failed)
    counts.add_metric([CallStatus.TIMEOUT.value], calls.timeout)
    families: list[Metric] = [counts]
    if calls.p95_ms is not None:
        text = f"95th percentile of the last {RECENT} over all processes."
        families.append(_gauge("recent_p95_seconds", text, calls.p95_ms / 1000))
    return families
