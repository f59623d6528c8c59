"""The figures the success criteria are judged by."""

from __future__ import annotations

import pytest

from tools.backends.server_metrics import ServerMetrics


def test_rates_are_percent() -> None:
    # S4-084
    metrics = ServerMetrics(
        cache_hits=2,
        cache_misses=3,
        validation_attempts=200,
        validation_successes=190,
        summarized_calls=4,
        summarization_reduction_sum=300.0,
    )
    assert metrics.cache_hit_rate() == pytest.approx(40.0)
    assert metrics.validation_success_rate() == pytest.approx(95.0)
    assert metrics.avg_summarization_reduction() == pytest.approx(75.0)


def test_without_data_rates_are_zero_and_criteria_say_so() -> None:
    # S4-084, S4-085, T10
    metrics = ServerMetrics()
    assert (
        metrics.cache_hit_rate(),
        metrics.validation_success_rate(),
        metrics.avg_summarization_reduction(),
    ) == (0.0, 0.0, 0.0)
    verdicts = metrics.meets_success_criteria()
    assert {name for name, met in verdicts.items() if met} == {"SC-001"}
    assert metrics.insufficient_data() == list(verdicts)


@pytest.mark.parametrize(
    ("criterion", "met", "missed"),
    [
        # S4-074
        ("SC-001", {"discovery_times": (0.1, 4.99)}, {"discovery_times": (0.1, 5.0)}),
        # S4-075
        (
            "SC-002",
            {"summarized_calls": 1, "summarization_reduction_sum": 70.0},
            {"summarized_calls": 1, "summarization_reduction_sum": 69.9},
        ),
        # S4-076
        (
            "SC-003",
            {"validation_attempts": 100, "validation_successes": 95},
            {"validation_attempts": 100, "validation_successes": 94},
        ),
        # S4-079
        ("SC-006", {"cache_hits": 4, "cache_misses": 6}, {"cache_hits": 3, "cache_misses": 7}),
        # S4-080
        ("SC-007", {"startup_time": 2.99}, {"startup_time": 3.0}),
    ],
)
def test_each_criterion_turns_at_its_limit(
    criterion: str, met: dict[str, float], missed: dict[str, float]
) -> None:
    # S4-085
    good, bad = ServerMetrics(**met), ServerMetrics(**missed)  # type: ignore[arg-type] # by name
    assert good.meets_success_criteria()[criterion] is True
    assert bad.meets_success_criteria()[criterion] is False
    assert criterion not in good.insufficient_data()
    assert criterion not in bad.insufficient_data()
