"""What Prometheus reads at `GET /metrics`.

Counters and histograms cover every process and survive restarts: they are what the request log's
figures add up to, so whichever process answers the scrape gives the same. Gauges that say so are of
the process that answers. Labels are bounded: tools and what is behind them as the catalogue has
them, statuses, codes, and the ten busiest callers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from health.gauges import health_families
from health.metric_families import counters, recent
from health.slo_gauges import objective_families
from health.snapshot import current_health
from tools.backends.ports import ports
from tools.backends.server_metrics import ServerMetrics, figures_of
from tools.backends.statistics import kept_for_a_moment, recent_calls
from tools.errors import TransportFault
from tools.execution.runtime import Runtime
from tools.guards.breaker import BreakerState
from tools.guards.redis import JOURNAL_STREAM, RedisDown
from tools.selectors.figures import By
from tools.selectors.totals import call_totals

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
RECENT: Final = "5m"

REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)


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
    report = await current_health()
    families += [*health_families(report), *objective_families(report)]
    # An absent series is the honest answer while the database is away.
    with suppress(TransportFault):
        families += await _calls(runtime)
    readings = CollectorRegistry()
    readings.register(_Readings(families))
    return generate_latest(REGISTRY) + generate_latest(readings)


async def _calls(runtime: Runtime) -> list[Metric]:
    tools = runtime.directory.catalogue.tools
    totals = await kept_for_a_moment(("totals",), call_totals)
    calls = await recent_calls(RECENT, by=By.TOOL)
    callers = await recent_calls(RECENT, by=By.CALLER)
    return [
        *counters(totals, tools, {spec.behind for spec in tools.values()}),
        *recent(calls, callers, tools),
        *_criteria(figures_of(calls.calls, runtime.live())),
    ]


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"controlplane_{name}", text, value=value)


def _live(live: Mapping[str, Any]) -> list[Metric]:
    return [
        _gauge("calls_in_flight", "Calls running in this process.", live["in_flight"]),
        _gauge(
            "calls_in_flight_peak",
            "Most at once since this process started.",
            live["peak_in_flight"],
        ),
        _gauge("tools", "Tools in the catalogue, as this process has it.", live["tools"]),
        _gauge(
            "catalogue_version",
            "Number of the catalogue that this process serves; it grows with every change.",
            live["catalogue_version"],
        ),
        _gauge(
            "redis_available", "1 when this process can use Redis.", float(live["redis_available"])
        ),
        _gauge("api_calls_logged", "Requests of this process to HTTP APIs.", ports.api_calls),
        _gauge(
            "startup_seconds", "From the start of this process to ready.", live["startup_seconds"]
        ),
        _gauge("start_time_seconds", "When this process started.", live["started_at"].timestamp()),
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
