"""Counters over all processes: from known calls to what Prometheus is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.core import Metric

from health.metric_families import counters, recent
from tests.factories import make_tool
from tests.tools.backends.rows import VALIDATED, finished, invalid, logged, unknown_tool
from tools.backends.statistics import RecentCalls
from tools.errors import ErrorCode
from tools.models import Tool
from tools.selectors.figures import By, call_figures
from tools.selectors.totals import call_totals
from tools.services.fold_figures import fold_figures

pytestmark = pytest.mark.django_db

Samples = dict[tuple[str, ...], float]


def found_in(families: Iterable[Metric]) -> Samples:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def told(tools: Collection[str] = ("a", "b"), behind: Collection[str] = ("mcp:one",)) -> Samples:
    return found_in(counters(call_totals(), tools, behind))


def test_calls_are_counted_by_tool_status_and_code() -> None:
    logged([finished("a"), finished("a"), finished("a", code=ErrorCode.TIMEOUT), finished("b")])
    found = told()
    assert found[("controlplane_calls_total", "a", "success", "")] == 2
    assert found[("controlplane_calls_total", "a", "timeout", "TIMEOUT")] == 1
    assert found[("controlplane_calls_total", "b", "success", "")] == 1


def test_names_that_are_no_tool_share_one_label() -> None:
    logged(unknown_tool(f"made_up_{number}") for number in range(50))
    calls = {key: value for key, value in told().items() if key[0] == "controlplane_calls_total"}
    assert calls == {("controlplane_calls_total", "unknown", "failure", "TOOL_NOT_FOUND"): 50}


def test_a_tool_that_left_the_catalogue_has_no_series_but_stays_in_the_sums() -> None:
    logged([finished("a", cache_hit=True), finished("gone", cache_hit=True)])
    found = told()
    assert ("controlplane_calls_total", "gone", "success", "") not in found
    assert found[("controlplane_cache_lookups_total", "hit")] == 2
    assert found[("controlplane_call_duration_seconds_count", "pipeline")] == 2


def test_durations_fall_into_buckets_of_seconds_to_the_call() -> None:
    times = [0.5, 1.0, 3.0, 5.0, 5.001, 59_999.0, 60_000.1]
    logged(finished("a", source="http_api", duration_ms=time) for time in times)
    found = told()

    def below(seconds: str) -> float:
        return found["controlplane_call_duration_seconds_bucket", "http_api", seconds]

    assert [below(end) for end in ("0.001", "0.0025", "0.005", "0.01")] == [2, 2, 4, 5]
    assert [below(end) for end in ("30.0", "60.0", "+Inf")] == [5, 6, 7]
    assert found["controlplane_call_duration_seconds_count", "http_api"] == 7
    seconds = found["controlplane_call_duration_seconds_sum", "http_api"]
    assert seconds == pytest.approx(sum(times) / 1000)


def test_what_is_behind_tools_is_told_apart_as_far_as_the_catalogue_knows_it() -> None:
    logged(
        [finished("a", source="upstream"), finished("b", source="upstream")],
        dependency={"upstream": "mcp:one"},
    )
    logged([finished("c", source="upstream")], dependency={"upstream": "mcp:gone"})
    found = told()
    assert found[("controlplane_dependency_calls_total", "mcp:one", "success")] == 2
    assert found[("controlplane_dependency_call_duration_seconds_count", "mcp:one")] == 2
    assert not any("mcp:gone" in key for key in found)


def test_cache_refusals_tokens_and_invalid_calls_are_counted() -> None:
    limited = ErrorCode.RATE_LIMITED
    logged(
        [
            *(finished("a", cache_hit=hit) for hit in (True, False, False, None)),
            finished("a", code=limited, stages={"validation": 0.1}),
            finished("a", code=limited, stages=VALIDATED),
            finished("a", code=ErrorCode.INVALID_ARGUMENTS, stages=VALIDATED),
            finished("a", tokens_before=1000, tokens_after=100),
            finished("a", tokens_before=10, tokens_after=10),
            *(invalid("a") for _ in range(3)),
        ]
    )
    found = told()
    wanted = {
        ("controlplane_cache_lookups_total", "hit"): 1,
        ("controlplane_cache_lookups_total", "miss"): 2,
        ("controlplane_refusals_total", "rate"): 1,
        ("controlplane_refusals_total", "slot"): 1,
        ("controlplane_invalid_calls_total", "before_backend"): 3,
        ("controlplane_invalid_calls_total", "by_backend"): 1,
        ("controlplane_tokens_total", "before"): 1010,
        ("controlplane_tokens_total", "after"): 110,
        ("controlplane_shortened_answers_total",): 1,
    }
    assert {key: found[key] for key in wanted} == wanted


def test_counters_never_shrink_whatever_happens_to_figures_and_tools() -> None:
    def calls() -> None:
        logged([finished("a"), finished("b", cache_hit=True), unknown_tool("no")])

    def deletion() -> None:
        Tool.objects.filter(name="b").delete()

    make_tool(name="a")
    make_tool(name="b")
    before: Samples = {}
    steps: list[Callable[[], object]] = [calls, fold_figures, calls, calls, fold_figures]
    for step in [*steps, deletion, fold_figures, calls, fold_figures]:
        step()
        names = set(Tool.objects.values_list("name", flat=True))
        after = told(names)
        kept = {key for key in before if key[1:2] != ("b",) or "b" in names}
        assert kept <= set(after)
        assert all(after[key] >= before[key] for key in kept)
        before = after


def test_without_calls_counters_are_zero() -> None:
    found = told()
    assert found[("controlplane_cache_lookups_total", "hit")] == 0
    assert found[("controlplane_shortened_answers_total",)] == 0


def test_only_the_busiest_callers_and_tools_of_the_catalogue_have_gauges() -> None:
    logged(
        finished("a", caller=f"client:{number}", ago=timedelta())
        for number in range(15)
        for _ in range(number + 1)
    )
    logged([finished("gone", ago=timedelta())])
    now = datetime.now(UTC)

    def lately(by: By) -> RecentCalls:
        seen = call_figures(now - timedelta(minutes=5), now, by=by)
        return RecentCalls("5m", now, seen.total, seen.groups)

    found = found_in(recent(lately(By.TOOL), lately(By.CALLER), ["a"]))
    callers = [key[1] for key in found if key[0] == "controlplane_recent_caller_calls"]
    assert callers == [f"client:{number}" for number in range(14, 4, -1)]
    assert found[("controlplane_recent_tool_seconds", "a", "p95")] == pytest.approx(0.01)
    assert not any("gone" in key for key in found)
