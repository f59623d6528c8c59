"""Fills a database with a history of health in which something always fails, written as rounds write it."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Final

DEPENDENCIES: Final = 20
# How likely the status of a dependency is another than a round before.
RESTLESS: Final = 0.12


def seed_health(rounds: int = 2000, days: float = 30.0, *, seed: int = 7) -> int:
    """So many rounds up to now; how many changes of status they made."""
    from health.findings import DATABASE, Dependency, HealthReport
    from health.record import record
    from health.status import DependencyStatus, HealthStatus

    chance = random.Random(seed)  # noqa: S311 - repeatable, not a secret
    end = datetime.now(UTC)
    names = [DATABASE, *(f"mcp:server-{number:02}" for number in range(1, DEPENDENCIES))]
    statuses = dict.fromkeys(names, DependencyStatus.CONNECTED)
    changes = 0
    for number in range(rounds):
        for name in names[1:]:
            if chance.random() < RESTLESS:
                statuses[name] = chance.choice([*DependencyStatus])
        well = all(status is DependencyStatus.CONNECTED for status in statuses.values())
        report = HealthReport(
            HealthStatus.HEALTHY if well else HealthStatus.DEGRADED,
            {
                name: Dependency(status, None if status is DependencyStatus.CONNECTED else "away")
                for name, status in statuses.items()
            },
            pool_usage="1/20",
            calls={"total": 100, "failed": 3, "successful": 97, "success_rate": 0.97},
            checked_at=end - timedelta(days=days) * (1 - (number + 1) / rounds),
        )
        changes += len(record(report, told=True))
    return changes
