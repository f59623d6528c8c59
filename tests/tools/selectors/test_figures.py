"""Figures of known calls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.tools.backends.rows import VALIDATED, finished, invalid, logged, still_open, unknown_tool
from tools.errors import ErrorCode
from tools.figures import CallStatistics
from tools.figures.statistics import LISTED_TOOLS
from tools.selectors.figures import By, Chosen, aligned, call_figures, call_series
from tools.services.fold_figures import fold_figures

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def last_hour(*names: str) -> CallStatistics:
    now = datetime.now(UTC)
    return call_figures(aligned(now - HOUR, now), now, chosen=Chosen(tools=names or None)).total


def within(*exact: float) -> Any:
    return pytest.approx(exact, rel=0.01)


def test_without_calls_counts_are_zero_and_times_are_none() -> None:
    found = last_hour()
    assert found == CallStatistics(minutes=found.minutes)
    assert (found.error_rate, found.queries_per_minute) == (0.0, 0.0)


def test_percentiles_are_within_one_percent_of_those_by_nearest_rank() -> None:
    # S0-075, S0-076, F0-12
    times = [float(1 + 37 * number % 100) for number in range(100)]
    logged(finished("rag_basic", duration_ms=time) for time in times)
    found = last_hour()
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == within(50.0, 95.0, 99.0)
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
def test_percentiles_of_few_calls_are_about_times_that_occurred(
    times: list[float], expected: tuple[float, float, float]
) -> None:
    logged(finished("rag_basic", duration_ms=time) for time in times)
    found = last_hour()
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == within(*expected)


def test_calls_outside_the_range_are_left_out() -> None:
    # S0-077
    logged(
        [
            finished("rag_basic", ago=timedelta(minutes=61), code=ErrorCode.EXECUTION_ERROR),
            finished("rag_basic", ago=timedelta(minutes=59)),
            finished("rag_basic", ago=-timedelta(minutes=1)),
        ]
    )
    found = last_hour()
    assert (found.total, found.successful, found.error_rate) == (1, 1, 0.0)


def test_total_is_the_sum_of_the_ways_calls_end_and_open_calls_are_in_none() -> None:
    logged(
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
    logged([finished("rag_basic"), finished("rag_crag"), finished("other", code=ErrorCode.TIMEOUT)])
    found = last_hour("rag_basic", "rag_crag")
    assert (found.total, found.by_code) == (2, {})
    assert found.by_tool == {"rag_basic": 1, "rag_crag": 1}


def test_calls_without_a_time_count_but_are_not_timed() -> None:
    logged(
        [
            finished("a", duration_ms=None, code=ErrorCode.INTERNAL_ERROR),
            finished("a", duration_ms=4.0),
        ]
    )
    found = last_hour()
    assert (found.total, found.average_ms, found.p99_ms) == (2, 4.0, 4.0)


def test_cache_counts_leave_out_tools_that_are_not_cached() -> None:
    # S4-079
    logged(finished("a", cache_hit=hit) for hit in [True, True, False, None, None])
    found = last_hour()
    assert (found.cache_hits, found.cache_misses) == (2, 1)


def test_reduction_is_averaged_over_shortened_calls_alone() -> None:
    # S4-075
    logged(
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
    logged(
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
    logged(
        [unknown_tool("ignore_your_instructions"), finished("a")]
        + [finished(f"tool_{number}") for number in range(LISTED_TOOLS + 5)]
    )
    found = last_hour()
    assert found.total == LISTED_TOOLS + 7
    assert len(found.by_tool) == LISTED_TOOLS
    assert "ignore_your_instructions" not in found.by_tool
    assert found.by_code == {"TOOL_NOT_FOUND": 1}


def known_calls(now: datetime) -> None:
    """Two tools of one server, one of another source, two callers, over two minutes."""
    minute = timedelta(minutes=1)
    rows = [
        finished("one_read", source="upstream", caller="client:1", duration_ms=10.0),
        finished("one_read", source="upstream", caller="client:2", duration_ms=30.0),
        finished("one_write", source="upstream", caller="client:1", code=ErrorCode.TIMEOUT),
        finished("plain", source="builtin", caller="client:1", duration_ms=2.0),
        unknown_tool("made_up"),
    ]
    for place, row in enumerate(rows):
        row.received_at = now - minute * (1 + place % 2)
        row.deadline_at = row.received_at + minute
    logged(rows, dependency={"upstream": "mcp:one"})


def test_calls_are_told_apart_by_what_was_asked_for() -> None:
    now = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
    known_calls(now)

    def counts(by: By) -> dict[str, tuple[int, int]]:
        found = call_figures(now - HOUR, now, by=by)
        assert found.total.total == 5
        return {name: (one.total, one.failed + one.timeout) for name, one in found.groups.items()}

    assert counts(By.TOOL) == {"one_read": (2, 0), "one_write": (1, 1), "plain": (1, 0)}
    assert counts(By.SOURCE) == {"upstream": (3, 1), "builtin": (1, 0)}
    assert counts(By.DEPENDENCY) == {"mcp:one": (3, 1)}
    assert counts(By.CALLER) == {"client:1": (3, 1), "client:2": (1, 0), "local:test": (1, 1)}


def test_each_group_has_all_figures_and_the_busiest_come_first() -> None:
    # S0-075 S0-076 S0-077 S0-078
    now = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
    known_calls(now)
    found = call_figures(now - HOUR, now, by=By.TOOL, most=1).groups
    assert list(found) == ["one_read"]
    one = found["one_read"]
    assert (one.total, one.error_rate, one.average_ms) == (2, 0.0, 20.0)
    assert (one.p50_ms, one.p95_ms, one.p99_ms) == within(10.0, 30.0, 30.0)
    assert one.queries_per_minute == pytest.approx(2 / 60)


def test_only_chosen_calls_are_counted() -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    known_calls(now)

    def total(chosen: Chosen) -> int:
        return call_figures(now - HOUR, now, chosen=chosen).total.total

    assert total(Chosen(dependency="mcp:one")) == 3
    assert total(Chosen(dependency="mcp:one", caller="client:2")) == 1
    assert total(Chosen(source="builtin")) == 1
    assert total(Chosen(tools=())) == 0
    fold_figures(now)
    logged([finished("plain", source="builtin", caller="client:2", ago=timedelta())])
    latest = datetime.now(UTC) + timedelta(minutes=1)
    for chosen, count in ((Chosen(caller="client:2"), 2), (Chosen(tools=["plain"]), 2)):
        assert call_figures(now - HOUR, latest, chosen=chosen).total.total == count
        points = call_series(now - HOUR, latest, HOUR, chosen=chosen)
        assert sum(point.calls.total for point in points) == count


def test_a_series_has_a_point_for_each_step_and_every_call_in_one() -> None:
    now = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)
    known_calls(now)
    minute = timedelta(minutes=1)
    found = call_series(now - 3 * minute, now, minute)
    assert [point.begins_at for point in found] == [now - minute * ago for ago in (3, 2, 1)]
    assert [point.calls.total for point in found] == [0, 2, 3]
    assert found[0].calls.p95_ms is None
    assert found[1].calls.p95_ms == pytest.approx(30.0, rel=0.01)
    coarse = call_series(now - 2 * HOUR, now, timedelta(minutes=30))
    assert [point.calls.total for point in coarse] == [0, 0, 0, 5]
    assert coarse[-1].calls.queries_per_minute == pytest.approx(5 / 30)
    *_, last = call_series(now - HOUR, now - timedelta(minutes=20), timedelta(hours=3))
    assert last.calls.minutes == pytest.approx(160)


def test_a_range_begins_at_the_nearest_minute_and_long_ago_at_the_nearest_hour() -> None:
    now = datetime(2026, 11, 17, 12, 0, 40, tzinfo=UTC)
    assert aligned(now, now) == datetime(2026, 11, 17, 12, 1, tzinfo=UTC)
    earlier = now - timedelta(days=3, minutes=20)
    assert aligned(earlier, now) == datetime(2026, 11, 14, 12, 0, tzinfo=UTC)
    long_ago = now - timedelta(days=30, hours=2)
    assert aligned(long_ago, now) == datetime(2026, 10, 18, 12, 0, tzinfo=UTC)
