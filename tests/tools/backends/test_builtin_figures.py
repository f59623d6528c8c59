"""What the built-in tools answer, from known rows and a known process."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections

from tests.tools.backends.calls import WIRE_TIME, call, live
from tests.tools.backends.rows import finished, invalid, logged, unknown_tool
from tools.backends import server_metrics as server_metrics_module
from tools.backends import statistics
from tools.backends.ports import ports
from tools.backends.rag_tools import RAG_RANGES, TECHNIQUES
from tools.contracts import Caller, CallerKind
from tools.errors import ErrorCode
from tools.models import ToolRequest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fresh")]

GRANTED = Caller(CallerKind.API_KEY, "client:1", "one", 1000, toolsets=frozenset({"some"}))


def about(exact: float) -> Any:
    """Percentiles come from sketches, and ranges begin at the nearest minute."""
    return pytest.approx(exact, rel=0.01)


async def test_rag_metrics_of_known_calls(rag_calls: None) -> None:
    # F0-12 F0-21
    answer = dict(await call("rag_metrics"))
    assert WIRE_TIME.match(answer.pop("as_of"))
    techniques = answer.pop("techniques")
    assert answer == {
        "time_range": "1h",
        "total_queries": 104,
        "successful_queries": 100,
        "failed_queries": 4,
        "average_response_time_ms": pytest.approx((5050 + 800) / 104),
        "p50_response_time_ms": about(52.0),
        "p95_response_time_ms": about(99.0),
        "p99_response_time_ms": about(200.0),
        "error_rate": pytest.approx(4 / 104),
        "queries_per_minute": about(104 / 60),
        "technique_usage": {
            "rag_basic": 100,
            "rag_basic_rerank": 0,
            "rag_crag": 3,
            "rag_graphrag": 1,
            "rag_pylate_colbert": 0,
            "rag_iris_global_graphrag": 0,
        },
    }
    assert list(techniques) == list(TECHNIQUES)
    assert techniques["rag_basic"] == {
        "total_queries": 100,
        "failed_queries": 0,
        "error_rate": 0.0,
        "queries_per_minute": about(100 / 60),
        "average_response_time_ms": pytest.approx(50.5),
        "p50_response_time_ms": about(50.0),
        "p95_response_time_ms": about(95.0),
        "p99_response_time_ms": about(99.0),
    }
    assert techniques["rag_crag"]["error_rate"] == 1.0
    assert techniques["rag_basic_rerank"]["p99_response_time_ms"] is None


async def test_rag_metrics_counts_errors_by_code_only_when_asked(rag_calls: None) -> None:
    # F0-12
    answer = await call("rag_metrics", include_error_details=True)
    assert answer["error_breakdown"] == {"EXECUTION_ERROR": 3, "TIMEOUT": 1}


async def test_rag_metrics_of_chosen_techniques_and_a_longer_range(rag_calls: None) -> None:
    # F0-11
    answer = await call("rag_metrics", technique_filter=["rag_basic"], time_range="6h")
    assert (answer["time_range"], answer["total_queries"], answer["failed_queries"]) == (
        "6h",
        101,
        1,
    )
    assert answer["technique_usage"] == {"rag_basic": 101}


@pytest.mark.parametrize("time_range", RAG_RANGES)
async def test_each_range_counts_what_lies_within_it(time_range: str) -> None:
    # F0-11
    length = statistics.RANGES[time_range]
    # Ranges begin at the nearest minute, those of days at the nearest hour.
    edge = max(timedelta(minutes=1), length / 10)
    rows = [finished("rag_basic", ago=ago) for ago in (length - edge, length + edge)]
    await asyncio.to_thread(_store, rows)
    answer = await call("rag_metrics", time_range=time_range)
    assert answer["total_queries"] == 1


def _store(rows: list[ToolRequest]) -> None:
    try:
        logged(rows)
    finally:
        connections.close_all()


async def test_the_service_is_measured_over_thirty_days_too() -> None:
    # F4-19: what a service behind a tool does wrong does not count against this one.
    rows = [finished("alpha", ago=timedelta(days=days)) for days in (1, 8, 29, 31)]
    rows.append(finished("alpha", ago=timedelta(days=9), code=ErrorCode.INTERNAL_ERROR))
    rows.append(finished("alpha", ago=timedelta(days=9), code=ErrorCode.EXECUTION_ERROR))
    await asyncio.to_thread(_store, rows)
    answer = await call("server_metrics", time_range="30d")
    assert (answer["time_range"], answer["calls"]["total"]) == ("30d", 5)
    assert answer["availability_percent"] == pytest.approx(80.0)


async def test_rag_metrics_without_calls_invents_nothing() -> None:
    # F0-12
    answer = dict(await call("rag_metrics", include_error_details=True))
    answer.pop("as_of")
    assert all(one["p50_response_time_ms"] is None for one in answer.pop("techniques").values())
    assert answer == {
        "time_range": "1h",
        "total_queries": 0,
        "successful_queries": 0,
        "failed_queries": 0,
        "average_response_time_ms": None,
        "p50_response_time_ms": None,
        "p95_response_time_ms": None,
        "p99_response_time_ms": None,
        "error_rate": 0.0,
        "queries_per_minute": 0.0,
        "technique_usage": dict.fromkeys(TECHNIQUES, 0),
        "error_breakdown": {},
    }


async def test_askers_within_a_second_share_one_read_of_the_log(rag_calls: None) -> None:
    first = await call("server_metrics")
    await asyncio.to_thread(_store, [finished("rag_basic")])
    assert await call("server_metrics") is first
    statistics.forget()
    server_metrics_module.forget()
    assert (await call("server_metrics"))["calls"]["total"] == first["calls"]["total"] + 1


@pytest.fixture
def mixed_calls(transactional_db: None) -> None:
    logged(
        [finished("alpha", cache_hit=True, duration_ms=1.0) for _ in range(3)]
        + [finished("beta", cache_hit=False, duration_ms=5.0) for _ in range(2)]
        + [finished("gamma", tokens_before=10_000, tokens_after=1000, duration_ms=50.0)]
        + [
            finished("gamma", code=ErrorCode.TIMEOUT, duration_ms=30_000.0),
            finished("gamma", code=ErrorCode.INVALID_ARGUMENTS, duration_ms=2.0),
            invalid("alpha"),
            unknown_tool("nonsense"),
        ]
    )


EXPECTED_FIGURES = {
    "time_range": "1h",
    "startup_time_seconds": 1.25,
    "state": "HEALTHY",
    "in_flight": 2,
    "peak_in_flight": 7,
    "current_connections": 3,
    "peak_connections": 50,
    "long_running_updates_sent": 4,
    "redis_available": True,
    "catalogue_version": 12,
    "tools": 4,
    "journal_backlog": None,
    "api_calls_logged": 7,
    "calls": {
        "total": 10,
        "successful": 6,
        "failed": 3,
        "timeout": 1,
        "by_code": {"INVALID_ARGUMENTS": 2, "TIMEOUT": 1, "TOOL_NOT_FOUND": 1},
    },
    "latency": {
        "average_ms": pytest.approx((3 + 10 + 50 + 30_000 + 2 + 10 + 10) / 10),
        "p50_ms": about(5.0),
        "p95_ms": about(30_000.0),
        "p99_ms": about(30_000.0),
    },
    "queries_per_minute": about(10 / 60),
    "error_rate": pytest.approx(0.4),
    "cache": {"hits": 3, "misses": 2, "hit_rate": pytest.approx(60.0), "spaces": {}},
    "tokens": {
        "before": 10_000,
        "after": 1000,
        "summarized_calls": 1,
        "average_reduction_percent": pytest.approx(90.0),
    },
    "validation": {
        "attempts": 9,
        "successes": 8,
        "success_rate": pytest.approx(800 / 9),
        "invalid": 2,
        "caught_before_backend": 1,
        "caught_before_backend_rate": pytest.approx(50.0),
    },
    "errors": {"retries": 1, "retry_successes": 0, "retry_success_rate": 0.0},
    "availability_percent": 100.0,
    "busiest_tools": {"alpha": 4, "gamma": 3, "beta": 2},
    "success_criteria": {
        "SC-001": True,
        "SC-002": True,
        "SC-003": False,
        "SC-006": True,
        "SC-007": True,
    },
    "insufficient_data": [],
}


async def test_server_metrics_of_known_calls_and_a_known_process(mixed_calls: None) -> None:
    # S4-074, S4-075, S4-076, S4-078, S4-079, S4-080, S4-081, S4-082, S4-085, T09
    ports.live = live
    ports.api_calls = 7
    answer = await call("server_metrics")
    assert WIRE_TIME.match(answer["as_of"])
    assert answer["uptime_seconds"] >= 90
    assert {key: answer[key] for key in EXPECTED_FIGURES} == EXPECTED_FIGURES
    assert set(answer) == {*EXPECTED_FIGURES, "as_of", "uptime_seconds"}


async def test_server_metrics_without_calls_or_process_says_what_it_does_not_know() -> None:
    # S4-084, S4-085, T10
    answer = await call("server_metrics", time_range="5m")
    assert answer["uptime_seconds"] is None
    assert answer["state"] is None
    assert answer["calls"]["total"] == 0
    assert set(answer["latency"].values()) == {None}
    assert (answer["error_rate"], answer["queries_per_minute"]) == (0.0, 0.0)
    assert answer["cache"]["hit_rate"] == 0.0
    assert answer["success_criteria"] == {
        "SC-001": True,
        "SC-002": False,
        "SC-003": False,
        "SC-006": False,
        "SC-007": False,
    }
    assert answer["insufficient_data"] == ["SC-001", "SC-002", "SC-003", "SC-006", "SC-007"]


async def test_callers_bound_to_toolsets_are_not_told_the_names_of_tools(
    mixed_calls: None,
) -> None:
    answer = await call("server_metrics", GRANTED)
    assert answer["calls"]["total"] == 10
    assert "busiest_tools" not in answer
    assert "gamma" not in str(answer)


async def test_the_cache_of_the_process_is_passed_on() -> None:
    spaces = {"http_api": {"entries": 3, "hits": 2, "misses": 1}}
    ports.live = lambda: live(cache=spaces, journal_backlog=5)
    answer = await call("server_metrics")
    assert answer["cache"]["spaces"] == spaces
    assert answer["journal_backlog"] == 5
