"""The health of the service for Prometheus: the same report that `GET /health` answers from."""

from __future__ import annotations

from prometheus_client.core import GaugeMetricFamily, Metric

from health.findings import HealthReport
from health.status import DependencyStatus, HealthStatus


def health_families(report: HealthReport) -> list[Metric]:
    """A report as gauges. Labels are names of checks and pipelines, as many as the catalogue has."""
    return [
        _status(report),
        *_dependencies(report),
        _pipelines(report),
        GaugeMetricFamily(
            "controlplane_health_age_seconds",
            "How long ago health was measured.",
            value=round(report.age_seconds, 3),
        ),
    ]


def _status(report: HealthReport) -> Metric:
    family = GaugeMetricFamily(
        "controlplane_health_status", "1 for the status the service has.", labels=["status"]
    )
    for status in HealthStatus:
        family.add_metric([status.value], float(report.status is status))
    return family


def _dependencies(report: HealthReport) -> list[Metric]:
    up = GaugeMetricFamily(
        "controlplane_dependency_up", "1 when it can be used.", labels=["dependency"]
    )
    seconds = GaugeMetricFamily(
        "controlplane_dependency_response_seconds",
        "How long its check took; absent while it cannot be used.",
        labels=["dependency"],
    )
    for name, found in report.dependencies.items():
        up.add_metric([name], float(found.status is DependencyStatus.CONNECTED))
        if found.response_time_ms is not None:
            seconds.add_metric([name], found.response_time_ms / 1000)
    return [up, seconds]


def _pipelines(report: HealthReport) -> Metric:
    """Those that count: one that is switched off is no fault to be told of."""
    family = GaugeMetricFamily(
        "controlplane_pipeline_up",
        "1 when it answers, be it with failures; only of those that are offered and have an index.",
        labels=["pipeline"],
    )
    for name, found in report.pipelines.items():
        if found.counted:
            family.add_metric([name], float(found.status is not HealthStatus.UNAVAILABLE))
    return family
