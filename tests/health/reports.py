"""Reports that say what tests want them to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from health.findings import Dependency, HealthReport, PipelineHealth, Source
from health.measure import assess
from health.status import DependencyStatus, HealthStatus


def report(*down: str, later: float = 0.0) -> HealthReport:
    """A report of three dependencies, of which these are away."""
    found = {
        name: Dependency(DependencyStatus.UNAVAILABLE, error=f"{name} is away")
        if name in down
        else Dependency(DependencyStatus.CONNECTED, response_time_ms=1)
        for name in ("database", "redis", "worker")
    }
    return replace(assess(found), checked_at=datetime.now(UTC) + timedelta(seconds=later))


def full_report() -> HealthReport:
    """One of everything that can be found."""
    found = assess(
        {
            "database": Dependency(DependencyStatus.CONNECTED, response_time_ms=3),
            "disk": Dependency(DependencyStatus.CONNECTED, details={"free_mb": 812}),
            "beat": Dependency(DependencyStatus.UNAVAILABLE, error="The beat does not run"),
            "mcp:todo": Dependency(DependencyStatus.UNKNOWN, error="No answer within 1 s"),
            "api:shop": Dependency(DependencyStatus.UNAVAILABLE, error="Its circuit breaker"),
        },
        {
            "rag_basic": PipelineHealth(HealthStatus.HEALTHY, datetime.now(UTC), 0.25, None, 41),
            "rag_crag": PipelineHealth(HealthStatus.UNAVAILABLE, error="No worker <b>answers</b>"),
            "rag_off": PipelineHealth(
                HealthStatus.UNAVAILABLE, error="It is switched off", counted=False
            ),
        },
    )
    breakers = {
        "api:shop": {"state": "OPEN", "failure_count": 5},
        "mcp:todo": {"state": "CLOSED", "failure_count": 0},
    }
    calls = {"total": 1200, "failed": 30, "successful": 1170, "success_rate": 0.975}
    values = {"breakers": breakers, "calls": calls, "source": Source.SNAPSHOT.value}
    return HealthReport.read({**found.to_json(), **values})
