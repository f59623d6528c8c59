"""The service's success criteria, as operators see them: what is measured, and what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.backends.ports import ports
from tools.backends.server_metrics import ServerMetrics, figures_of
from tools.backends.statistics import RANGES
from tools.selectors.figures import aligned, call_figures
from tools.selectors.journal import error_retries

__all__ = ["RANGES", "Criterion", "success_criteria"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One of them. `holds` is None where there is nothing to judge by."""

    id: str
    what: str
    measured: str
    wanted: str
    holds: bool | None


def success_criteria(span: timedelta) -> list[Criterion]:
    """All of them, over the calls of the last `span` and what this process knows of itself."""
    until = datetime.now(UTC)
    live = ports.live() if ports.live else {}
    since = until - span
    calls = call_figures(aligned(since, until), until).total
    figures = figures_of(calls, live, error_retries(since, until))
    found = [
        *_of_the_process(figures, live),
        _percent(
            "SC-002", "Shortened answers are smaller", figures, "avg_summarization_reduction", 70
        ),
        _percent("SC-003", "Calls with valid arguments", figures, "validation_success_rate", 95),
        _retries(figures),
        _percent("SC-006", "Answers from the cache", figures, "cache_hit_rate", 40),
        _availability(figures),
    ]
    return sorted(found, key=lambda one: one.id)


def _of_the_process(figures: ServerMetrics, live: Mapping[str, Any]) -> list[Criterion]:
    listed = _seconds(max(figures.discovery_times, default=None))
    connected = _count(live.get("peak_connections"))
    updates = _count(live.get("long_running_updates_sent"))
    started = _seconds(figures.startup_time)
    verdicts = figures.meets_success_criteria()
    unknown = figures.insufficient_data()
    first, start = (None if one in unknown else verdicts[one] for one in ("SC-001", "SC-007"))
    return [
        Criterion("SC-001", "From connecting to the list of tools", listed, "below 5 s", first),
        Criterion("SC-005", "Most clients connected at once", connected, "50 served well", None),
        Criterion("SC-007", "From start to ready", started, "below 3 s", start),
        Criterion("SC-009", "Requests to APIs that were logged", str(ports.api_calls), "all", None),
        Criterion("SC-010", "Progress messages of long calls", updates, "every 2 s", None),
    ]


def _retries(figures: ServerMetrics) -> Criterion:
    return Criterion(
        "SC-004",
        "Calls after a failed one that worked",
        f"{figures.error_retry_successes} of {figures.error_retries}",
        "at least 80 %",
        figures.retry_success_rate() >= 80 if figures.error_retries else None,
    )


def _percent(name: str, what: str, figures: ServerMetrics, figure: str, least: int) -> Criterion:
    known = name not in figures.insufficient_data()
    value = getattr(figures, figure)()
    return Criterion(
        name,
        what,
        f"{value:.1f} %" if known else "-",
        f"at least {least} %",
        value >= least if known else None,
    )


def _availability(figures: ServerMetrics) -> Criterion:
    value = figures.availability()
    return Criterion(
        "SC-008",
        "Calls that did not fail on this service",
        "-" if value is None else f"{value:.2f} %",
        "at least 99.5 %",
        None if value is None else value >= 99.5,
    )


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"


def _count(value: Any) -> str:
    return "-" if value is None else str(value)
