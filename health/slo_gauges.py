"""Service level objectives for Prometheus, as the report of the health checks has them."""

from __future__ import annotations

from prometheus_client.core import GaugeMetricFamily, Metric

from health.findings import HealthReport


def objective_families(report: HealthReport) -> list[Metric]:
    """How each objective stands; those without calls have no availability."""
    labels = ["objective"]
    target = GaugeMetricFamily(
        "controlplane_slo_target_ratio", "Share of calls that are to succeed.", labels=labels
    )
    availability = GaugeMetricFamily(
        "controlplane_slo_availability_ratio", "Share of calls that succeeded.", labels=labels
    )
    burnt = GaugeMetricFamily(
        "controlplane_slo_budget_burnt_ratio",
        "Share of the error budget that is used up; above 1 the promise is broken.",
        labels=labels,
    )
    slow = GaugeMetricFamily(
        "controlplane_slo_latency_budget_burnt_ratio",
        "The same of response times.",
        labels=labels,
    )
    for name, one in report.objectives.items():
        target.add_metric([name], one["target_percent"] / 100)
        burnt.add_metric([name], one["budget_burnt"])
        if one["availability_percent"] is not None:
            availability.add_metric([name], one["availability_percent"] / 100)
        if one["latency_budget_burnt"] is not None:
            slow.add_metric([name], one["latency_budget_burnt"])
    return [target, availability, burnt, slow]
