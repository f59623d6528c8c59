"""The last test queries of pipelines, for the pages about pipelines."""

from __future__ import annotations

from health.admin.banner import stale_after
from health.known import known_report
from tools.services.canaries import CanaryResult


def canary_results() -> dict[str, CanaryResult]:
    """By the names of tools, from the latest report that can be read; nothing without one."""
    report = known_report()
    if report is None:
        return {}
    stale = report.age_seconds > stale_after()
    return {
        name: CanaryResult(
            status=found.status.value,
            measured_at=report.checked_at,
            error=found.error,
            milliseconds=found.canary_ms,
            last_success=found.last_success,
            stale=stale,
        )
        for name, found in report.pipelines.items()
    }
