"""`rag_health_check` and `rag_metrics`: how the RAG pipelines are doing, measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final

from tools.backends.ports import ports
from tools.backends.statistics import DEFAULT_RANGE, RANGES, RecentCalls, recent_calls
from tools.contracts import Caller, wire_time
from tools.errors import ServiceUnavailable, TransportFault
from tools.figures import CallStatistics
from tools.selectors.figures import By

TECHNIQUES: Final = (
    "rag_basic",
    "rag_basic_rerank",
    "rag_crag",
    "rag_graphrag",
    "rag_pylate_colbert",
    "rag_iris_global_graphrag",
)

# The contract of the tool names these; the service has longer ones.
RAG_RANGES: Final = tuple(name for name, length in RANGES.items() if length <= timedelta(days=7))

HEALTH_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "include_details": {
            "type": "boolean",
            "default": False,
            "description": "Also list each dependency with its error and response time.",
        },
        "include_performance_metrics": {
            "type": "boolean",
            "default": True,
            "description": "Also give response times, error rate and throughput of the last hour.",
        },
    },
    "required": [],
    "additionalProperties": False,
}

METRICS_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "time_range": {
            "type": "string",
            "enum": list(RAG_RANGES),
            "default": DEFAULT_RANGE,
            "description": "How far back to look.",
        },
        "technique_filter": {
            "type": "array",
            "items": {"type": "string", "enum": list(TECHNIQUES)},
            "default": [],
            "description": "Only these techniques; empty means all.",
        },
        "include_error_details": {
            "type": "boolean",
            "default": False,
            "description": "Also count failures by error code.",
        },
    },
    "required": [],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class HealthPerformance:
    """Performance as the health check reports it; `average_response_time_ms` is the median."""

    average_response_time_ms: float | None
    p95_response_time_ms: float | None
    error_rate: float
    queries_per_minute: float

    @classmethod
    def of(cls, recent: RecentCalls) -> HealthPerformance:
        return cls(
            average_response_time_ms=recent.calls.p50_ms,
            p95_response_time_ms=recent.calls.p95_ms,
            error_rate=recent.calls.error_rate,
            queries_per_minute=recent.queries_per_minute,
        )


async def rag_health_check(arguments: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    """Status of pipelines and database; figures of the last hour and details when asked."""
    if ports.health is None:
        raise ServiceUnavailable("Health is not measured in this process", retry_after=60)
    health = await ports.health()
    answer: dict[str, Any] = {
        "overall_status": health["status"],
        "pipeline_statuses": health["pipelines"],
        "database_status": health["database"],
        "last_updated": wire_time(health["checked_at"]),
    }
    if arguments.get("include_performance_metrics", True):
        answer["performance_metrics"] = await _performance()
    if arguments.get("include_details", False):
        live = ports.live() if ports.live else {}
        answer["details"] = {
            "dependencies": health["dependencies"],
            "state": live.get("state"),
            "in_flight": live.get("in_flight"),
            "journal_backlog": live.get("journal_backlog"),
        }
    return answer


async def _performance() -> dict[str, Any] | None:
    try:
        recent = await recent_calls("1h", frozenset(TECHNIQUES))
    except TransportFault:
        # The health of a service whose database is down must still be told.
        return None
    return asdict(HealthPerformance.of(recent))


async def rag_metrics(arguments: Mapping[str, Any], caller: Caller) -> Mapping[str, Any]:
    """Counts and response times of RAG queries over a range. Times are null without queries."""
    names = frozenset(arguments.get("technique_filter") or TECHNIQUES)
    time_range = arguments.get("time_range", DEFAULT_RANGE)
    recent = await recent_calls(time_range, names, By.TOOL)
    calls = recent.calls
    none = CallStatistics()
    answer: dict[str, Any] = {
        "time_range": recent.time_range,
        "total_queries": calls.total,
        "successful_queries": calls.successful,
        "failed_queries": calls.failed + calls.timeout,
        "average_response_time_ms": calls.average_ms,
        "p95_response_time_ms": calls.p95_ms,
        "p99_response_time_ms": calls.p99_ms,
        "p50_response_time_ms": calls.p50_ms,
        "error_rate": calls.error_rate,
        "queries_per_minute": calls.queries_per_minute,
        "technique_usage": {
            name: calls.by_tool.get(name, 0) for name in TECHNIQUES if name in names
        },
        "techniques": {
            name: _of_technique(recent.groups.get(name, none))
            for name in TECHNIQUES
            if name in names
        },
        "as_of": wire_time(recent.as_of),
    }
    if arguments.get("include_error_details", False):
        answer["error_breakdown"] = dict(calls.by_code)
    return answer


def _of_technique(calls: CallStatistics) -> dict[str, Any]:
    return {
        "total_queries": calls.total,
        "failed_queries": calls.failed + calls.timeout,
        "error_rate": calls.error_rate,
        "queries_per_minute": calls.queries_per_minute,
        "average_response_time_ms": calls.average_ms,
        "p50_response_time_ms": calls.p50_ms,
        "p95_response_time_ms": calls.p95_ms,
        "p99_response_time_ms": calls.p99_ms,
    }
