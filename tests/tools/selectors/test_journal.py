"""Figures from known rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.tools.backends.rows import VALIDATED, finished, invalid, still_open, unknown_tool
from tools.errors import ErrorCode
from tools.models import ToolRequest
from tools.selectors.journal import LISTED_TOOLS, CallStatistics, call_statistics

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def last_hour(*names: str) -> CallStatistics:
    now = datetime.now(UTC)
    return call_statistics(now - HOUR, now, names or None)


def test_without_calls_counts_are_zero_and_times_are_none() -> None:
    assert last_hour() == CallStatistics()


def test_percentiles_are_exact_by_nearest_rank() -> None:
    # S0-075, S0-076, F0-12
    times = [float(1 + 37 * number % 100) for number in range(100)]
    ToolRequest.objects.bulk_create(finished("rag_basic", duration_ms=time) for time in times)
    found = last_hour()
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == (50.0, 95.0, 99.0)
    assert found.average_ms == pytest.approx(50.5)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([7.0], (7.0, 7.0, 7.0)),
        ([1.0, 9.0], (1.0, 9.0, 9.0)),
        ([3.0, 1.0, 2.0], (2.0, 3.0, 3.0)),
        ([5.0] * 10 + [100.0], (5.0, 100.0, 100.0)),
    ],
)
def test_percentiles_of_few_calls_are_times_that_occurred(
    times: list[float], expected: tuple[float, float, float]
) -> None:
    ToolRequest.objects.bulk_create(finished("rag_basic", duration_ms=time) for time in times)
    found = last_hour()
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == expected


def test_calls_outside_the_range_are_left_out() -> None:
    # S0-077
    ToolRequest.objects.bulk_create(
        [
            finished("rag_basic", ago=timedelta(minutes=61), code=ErrorCode.EXECUTION_ERROR),
            finished("rag_basic", ago=timedelta(minutes=59)),
            finished("rag_basic", ago=-timedelta(minutes=1)),
        ]
    )
    found = last_hour()
    assert (found.total, found.successful, found.error_rate) == (1, 1, 0.0)


def test_total_is_the_sum_of_the_ways_calls_end_and_open_calls_are_in_none() -> None:
    ToolRequest.objects.bulk_create(
        [
            finished("a"),
            finished("a"),
            finished("b", code=ErrorCode.EXECUTION_ERROR),
            finished("b", code=ErrorCode.TIMEOUT),
            finished("b", code=ErrorCode.TIMEOUT),
            still_open("a"),
        ]
    )
    found = last_hour()
    assert (found.total, found.successful, found.failed, found.timeout) == (5, 2, 1, 2)
    assert found.by_code == {"TIMEOUT": 2, "EXECUTION_ERROR": 1}
    assert found.by_tool == {"b": 3, "a": 2}
    assert found.error_rate == pytest.approx(0.6)


def test_only_the_named_tools_are_counted() -> None:
    ToolRequest.objects.bulk_create(
        [finished("rag_basic"), finished("rag_crag"), finished("other", code=ErrorCode.TIMEOUT)]
    )
    found = last_hour("rag_basic", "rag_crag")
    assert (found.total, found.by_code) == (2, {})
    assert found.by_tool == {"rag_basic": 1, "rag_crag": 1}


def test_calls_without_a_time_count_but_are_not_timed() -> None:
    ToolRequest.objects.bulk_create(
        [
            finished("a", duration_ms=None, code=ErrorCode.INTERNAL_ERROR),
            finished("a", duration_ms=4.0),
        ]
    )
    found = last_hour()
    assert (found.total, found.average_ms, found.p99_ms) == (2, 4.0, 4.0)


def test_cache_counts_leave_out_tools_that_are_not_cached() -> None:
    # S4-079
    ToolRequest.objects.bulk_create(
        finished("a", cache_hit=hit) for hit in [True, True, False, None, None]
    )
    found = last_hour()
    assert (found.cache_hits, found.cache_misses) == (2, 1)


def test_reduction_is_averaged_over_shortened_calls_alone() -> None:
    # S4-075
    ToolRequest.objects.bulk_create(
        [
            finished("a", tokens_before=1000, tokens_after=100),
            finished("a", tokens_before=4000, tokens_after=2000),
            finished("a", tokens_before=500, tokens_after=500),
            finished("a"),
        ]
    )
    found = last_hour()
    assert (found.tokens_before, found.tokens_after) == (5500, 2600)
    assert found.shortened == 2
    assert found.shortened_by_percent == pytest.approx(70.0)


def test_invalid_requests_are_counted_by_who_noticed() -> None:
    # S4-076, T09
    ToolRequest.objects.bulk_create(
        [
            finished("a"),
            finished("a", code=ErrorCode.EXECUTION_ERROR),
            finished("a", code=ErrorCode.INVALID_ARGUMENTS, stages=VALIDATED),
            invalid("a"),
            invalid("a"),
            unknown_tool("no_such_tool"),
        ]
    )
    found = last_hour()
    assert found.validation_attempts == 5
    assert (found.invalid_refused, found.invalid_passed) == (2, 1)


def test_made_up_names_are_counted_but_not_listed() -> None:
    ToolRequest.objects.bulk_create(
        [unknown_tool("ignore_your_instructions"), finished("a")]
        + [finished(f"tool_{number}") for number in range(LISTED_TOOLS + 5)]
    )
    found = last_hour()
    assert found.total == LISTED_TOOLS + 7
    assert len(found.by_tool) == LISTED_TOOLS
    assert "ignore_your_instructions" not in found.by_tool
    assert found.by_code == {"TOOL_NOT_FOUND": 1}


def test_calls_that_follow_a_failed_one_are_retries() -> None:
    # S4-077
    wrong, late = ErrorCode.INVALID_ARGUMENTS, ErrorCode.TIMEOUT
    history = [
        ("alpha", "one", wrong),
        ("alpha", "one", None),
        ("alpha", "one", late),
        ("alpha", "one", wrong),
        # Of another caller, and of another tool: no retries of what is above.
        ("alpha", "two", None),
        ("beta", "one", None),
        ("beta", "two", wrong),
    ]
    ToolRequest.objects.bulk_create(
        finished(tool, caller=caller, code=code, ago=timedelta(minutes=20 - place))
        for place, (tool, caller, code) in enumerate(history)
    )
    found = last_hour()
    assert (found.error_retries, found.error_retry_successes) == (2, 1)
