"""`server_metrics`: how the whole service is doing, from the figures of calls and this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from tools.backends.memo import Memo
from tools.backends.ports import ports
from tools.backends.statistics import (
    DEFAULT_RANGE,
    FRESH_SECONDS,
    RANGES,
    RecentCalls,
    recent_calls,
    recent_retries,
)
from tools.contracts import Caller, wire_time
from tools.errors import ErrorCode
from tools.figures import CallStatistics
from tools.selectors.journal import Retries

BUSIEST: Final = 10
NO_RETRIES: Final = Retries()
# What speaks against this service; the other codes speak against callers or what is behind a tool.
OWN_FAILURES: Final = (ErrorCode.INTERNAL_ERROR, ErrorCode.SERVICE_UNAVAILABLE)

SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "time_range": {
            "type": "string",
            "enum": list(RANGES),
            "default": DEFAULT_RANGE,
            "description": "How far back the figures of calls go.",
        }
    },
    "required": [],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ServerMetrics:
    """The figures that the service's success criteria are judged by.

    Times are seconds, reductions percent. Rates are percent and 0.0 without data;
    `insufficient_data` names the criteria that had none.
    """

    discovery_times: tuple[float, ...] = ()
    summarized_calls: int = 0
    summarization_reduction_sum: float = 0.0
    validation_attempts: int = 0
    validation_successes: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    startup_time: float | None = None
    error_retries: int = 0
    error_retry_successes: int = 0
    calls: int = 0
    own_failures: int = 0

    def availability(self) -> float | None:
        """SC-008: share of calls, in percent, that did not fail on this service itself.

        None without calls. What a service behind a tool does wrong has codes of its own.
        """
        return 100.0 - _percent(self.own_failures, self.calls) if self.calls else None

    def retry_success_rate(self) -> float:
        """SC-004: how often the call after a failed one worked; at least 80 are aimed at."""
        return _percent(self.error_retry_successes, self.error_retries)

    def cache_hit_rate(self) -> float:
        return _percent(self.cache_hits, self.cache_hits + self.cache_misses)

    def validation_success_rate(self) -> float:
        return _percent(self.validation_successes, self.validation_attempts)

    def avg_summarization_reduction(self) -> float:
        if not self.summarized_calls:
            return 0.0
        return self.summarization_reduction_sum / self.summarized_calls

    def meets_success_criteria(self) -> dict[str, bool]:
        """Whether each measured criterion holds."""
        return {
            "SC-001": all(seconds < 5.0 for seconds in self.discovery_times),
            "SC-002": self.avg_summarization_reduction() >= 70.0,
            "SC-003": self.validation_success_rate() >= 95.0,
            "SC-006": self.cache_hit_rate() >= 40.0,
            "SC-007": self.startup_time is not None and self.startup_time < 3.0,
        }

    def insufficient_data(self) -> list[str]:
        """The criteria whose verdict rests on no data at all."""
        measured = {
            "SC-001": bool(self.discovery_times),
            "SC-002": self.summarized_calls > 0,
            "SC-003": self.validation_attempts > 0,
            "SC-006": self.cache_hits + self.cache_misses > 0,
            "SC-007": self.startup_time is not None,
        }
        return [criterion for criterion, known in measured.items() if not known]


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


_rendered: Memo[Mapping[str, Any]] = Memo(FRESH_SECONDS)


async def server_metrics(arguments: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    """The figures of the service, shared for a second between those who ask.

    Callers bound to toolsets are not told the names of tools they may not see.
    """
    time_range = arguments.get("time_range", DEFAULT_RANGE)
    named = caller.toolsets is None
    return await _rendered.get((time_range, named), partial(_render, time_range, named))


def forget() -> None:
    """Drop what is kept; the next answer is computed."""
    _rendered.clear()


async def _render(time_range: str, named: bool) -> Mapping[str, Any]:
    recent, retries = await recent_calls(time_range), await recent_retries(time_range)
    live = ports.live() if ports.live else {}
    calls = recent.calls
    figures = figures_of(calls, live, retries)
    answer = {
        **_process(live),
        **_counted(recent),
        "cache": {
            "hits": calls.cache_hits,
            "misses": calls.cache_misses,
            "hit_rate": figures.cache_hit_rate(),
            "spaces": dict(live.get("cache") or {}),
        },
        "tokens": {
            "before": calls.tokens_before,
            "after": calls.tokens_after,
            "summarized_calls": calls.shortened,
            "average_reduction_percent": figures.avg_summarization_reduction(),
        },
        "validation": _validation(calls, figures),
        "errors": {
            "retries": figures.error_retries,
            "retry_successes": figures.error_retry_successes,
            "retry_success_rate": figures.retry_success_rate(),
        },
        "availability_percent": figures.availability(),
        "success_criteria": figures.meets_success_criteria(),
        "insufficient_data": figures.insufficient_data(),
    }
    if named:
        answer["busiest_tools"] = dict(list(calls.by_tool.items())[:BUSIEST])
    return answer


def figures_of(
    calls: CallStatistics, live: Mapping[str, Any], retries: Retries = NO_RETRIES
) -> ServerMetrics:
    """The figures that these calls and what a process knows of itself give."""
    return ServerMetrics(
        discovery_times=tuple(live.get("discovery_times") or ()),
        summarized_calls=calls.shortened,
        summarization_reduction_sum=(calls.shortened_by_percent or 0.0) * calls.shortened,
        validation_attempts=calls.validation_attempts,
        validation_successes=calls.validation_attempts - calls.invalid_refused,
        cache_hits=calls.cache_hits,
        cache_misses=calls.cache_misses,
        startup_time=live.get("startup_seconds"),
        error_retries=retries.tried,
        error_retry_successes=retries.worked,
        calls=calls.total,
        own_failures=sum(calls.by_code.get(code.value, 0) for code in OWN_FAILURES),
    )


def _process(live: Mapping[str, Any]) -> dict[str, Any]:
    """What this process knows of itself; null where there is no serving process."""
    started = live.get("started_at")
    uptime = int((datetime.now(UTC) - started).total_seconds()) if started else None
    copied = (
        "state in_flight peak_in_flight current_connections peak_connections "
        "long_running_updates_sent redis_available catalogue_version tools journal_backlog"
    )
    return {
        "uptime_seconds": uptime,
        "startup_time_seconds": live.get("startup_seconds"),
        **{name: live.get(name) for name in copied.split()},
        "api_calls_logged": ports.api_calls if live else None,
    }


def _counted(recent: RecentCalls) -> dict[str, Any]:
    calls = recent.calls
    return {
        "as_of": wire_time(recent.as_of),
        "time_range": recent.time_range,
        "calls": {
            "total": calls.total,
            "successful": calls.successful,
            "failed": calls.failed,
            "timeout": calls.timeout,
            "by_code": dict(calls.by_code),
        },
        "latency": {
            "average_ms": calls.average_ms,
            "p50_ms": calls.p50_ms,
            "p95_ms": calls.p95_ms,
            "p99_ms": calls.p99_ms,
        },
        "queries_per_minute": recent.queries_per_minute,
        "error_rate": calls.error_rate,
    }


def _validation(calls: CallStatistics, figures: ServerMetrics) -> dict[str, Any]:
    invalid = calls.invalid_refused + calls.invalid_passed
    return {
        "attempts": figures.validation_attempts,
        "successes": figures.validation_successes,
        "success_rate": figures.validation_success_rate(),
        "invalid": invalid,
        "caught_before_backend": calls.invalid_refused,
        "caught_before_backend_rate": _percent(calls.invalid_refused, invalid),
    }
