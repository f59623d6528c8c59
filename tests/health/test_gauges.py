"""A report as Prometheus is told of it."""

from __future__ import annotations

import pytest

from health.findings import HealthReport
from health.gauges import health_families
from tests.health.reports import full_report, report

pytestmark = pytest.mark.django_db


def told(found: HealthReport) -> dict[tuple[str, ...], float]:
    """Each sample by its name and labels, without the common beginning."""
    return {
        (sample.name.removeprefix("controlplane_"), *sample.labels.values()): sample.value
        for family in health_families(found)
        for sample in family.samples
    }


def test_present_status_is_one_and_the_others_zero() -> None:
    # C06, S0-081
    found = told(report("worker"))
    assert found["health_status", "degraded"] == 1
    assert found["health_status", "healthy"] == 0
    assert found["health_status", "unavailable"] == 0


def test_dependencies_are_up_or_not_and_have_a_time_while_they_are() -> None:
    # S3-057
    found = told(full_report())
    up = {labels[1]: value for labels, value in found.items() if labels[0] == "dependency_up"}
    assert up == {"database": 1, "disk": 1, "beat": 0, "mcp:todo": 0, "api:shop": 0}
    assert found["dependency_response_seconds", "database"] == 0.003
    assert ("dependency_response_seconds", "beat") not in found


def test_pipelines_that_do_not_count_are_left_out() -> None:
    # S0-070
    found = told(full_report())
    up = {labels[1]: value for labels, value in found.items() if labels[0] == "pipeline_up"}
    assert up == {"rag_basic": 1, "rag_crag": 0}


def test_age_is_told() -> None:
    # S0-079
    assert 30 <= told(report(later=-30))[("health_age_seconds",)] < 60


def test_names_keep_to_one_prefix_and_have_a_text() -> None:
    for family in health_families(full_report()):
        assert family.name.startswith("controlplane_")
        assert family.documentation
