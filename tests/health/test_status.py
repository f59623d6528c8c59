"""The truth table of health, over every combination."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import pytest

from health.status import DependencyStatus, HealthStatus, as_served, overall, state_for
from tools.contracts import ServiceState, next_service_state

H, D, U = HealthStatus.HEALTHY, HealthStatus.DEGRADED, HealthStatus.UNAVAILABLE
UP, DOWN, UNKNOWN = (
    DependencyStatus.CONNECTED,
    DependencyStatus.UNAVAILABLE,
    DependencyStatus.UNKNOWN,
)

PIPELINES = [
    dict(enumerate(statuses))
    for size in range(7)
    for statuses in combinations_with_replacement((H, D, U), size)
]
OTHERS = [
    dict(zip(("redis", "worker"), found, strict=True))
    for found in product((UP, DOWN, UNKNOWN), repeat=2)
]


def named(pipelines: dict[int, HealthStatus]) -> dict[str, HealthStatus]:
    return {f"pipeline{number}": status for number, status in pipelines.items()}


@pytest.mark.parametrize("database", [DOWN, UNKNOWN])
def test_without_a_database_the_service_is_unavailable_whatever_else_holds(
    database: DependencyStatus,
) -> None:
    # S0-066, S3-055
    for pipelines, others in product(PIPELINES, OTHERS):
        assert overall(database, named(pipelines), others) is U


def test_every_combination_with_a_database_follows_the_rules_in_order() -> None:
    # S0-067, S0-068, S0-069, S3-053, S3-054
    seen = set()
    for pipelines, others, slow in product(PIPELINES, OTHERS, (False, True)):
        statuses = list(pipelines.values())
        everything_up = set(others.values()) == {UP} and not slow
        if statuses and statuses.count(U) == len(statuses):
            expected = U
        elif statuses.count(H) == len(statuses) and everything_up:
            expected = H
        else:
            expected = D
        assert overall(UP, named(pipelines), others, database_slow=slow) is expected
        seen.add(expected)
    assert seen == {H, D, U}


def test_one_degraded_pipeline_of_six_makes_the_service_degraded() -> None:
    # S0-069, T01: the rules win over the example that calls this healthy
    pipelines = {"basic": H, "rerank": H, "crag": H, "graphrag": D, "colbert": H, "global": H}
    assert overall(UP, pipelines, {"redis": UP}) is D


def test_no_pipelines_count_as_all_healthy() -> None:
    assert overall(UP, {}, {"redis": UP, "worker": UP}) is H


def test_an_unknown_dependency_counts_as_unavailable() -> None:
    # C06
    assert overall(UP, {}, {"redis": UNKNOWN}) is overall(UP, {}, {"redis": DOWN}) is D


def test_statuses_are_strings_in_lower_case() -> None:
    # S0-081, C06
    assert [(item.name, item.value, isinstance(item, str)) for item in HealthStatus] == [
        ("HEALTHY", "healthy", True),
        ("DEGRADED", "degraded", True),
        ("UNAVAILABLE", "unavailable", True),
    ]
    assert {item.value for item in DependencyStatus} == {"connected", "unavailable", "unknown"}


def test_critical_of_other_systems_means_unavailable() -> None:
    # C06
    assert HealthStatus.read("critical") is U
    assert [HealthStatus.read(item.value.upper()) for item in HealthStatus] == [H, D, U]


def test_health_moves_a_serving_process_between_healthy_and_degraded() -> None:
    # S3-038, S3-039, S3-040
    assert [state_for(status) for status in (H, D, U)] == [
        ServiceState.HEALTHY,
        ServiceState.DEGRADED,
        ServiceState.DEGRADED,
    ]
    state = ServiceState.INITIALIZING
    for status, expected in [
        (H, ServiceState.HEALTHY),
        (D, ServiceState.DEGRADED),
        (H, ServiceState.HEALTHY),
        (U, ServiceState.DEGRADED),
        (H, ServiceState.HEALTHY),
    ]:
        state = next_service_state(state, state_for(status))
        assert state is expected


@pytest.mark.parametrize("status", list(HealthStatus))
def test_a_process_that_is_not_serving_is_unavailable(status: HealthStatus) -> None:
    # S3-055
    for state in ServiceState:
        serving = state in {ServiceState.HEALTHY, ServiceState.DEGRADED}
        assert as_served(status, state) is (status if serving else U)
    assert as_served(status, None) is status
