"""From what was measured to one word: the truth table of the service's health. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from tools.contracts import ServiceState


class HealthStatus(StrEnum):
    """The health of the service or of one pipeline."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"

    @classmethod
    def read(cls, word: str) -> HealthStatus:
        """The status another system means; its `critical` is our `unavailable`."""
        return cls.UNAVAILABLE if word.lower() == "critical" else cls(word.lower())


# As the API's document names them.
CHOICES: Final = [(item.value, item.value) for item in HealthStatus]


class DependencyStatus(StrEnum):
    """What a check found. `unknown`: it did not answer in time, which counts as unavailable."""

    CONNECTED = "connected"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"


_SERVING: Final = frozenset({ServiceState.HEALTHY, ServiceState.DEGRADED})


def overall(
    database: DependencyStatus,
    pipelines: Mapping[str, HealthStatus],
    others: Mapping[str, DependencyStatus],
    *,
    database_slow: bool = False,
) -> HealthStatus:
    """The health of the service; the first rule that applies decides.

    Database not connected: unavailable. Every pipeline unavailable: unavailable. A pipeline that
    is not healthy, another dependency that is not connected, a slow database: degraded. No
    pipelines defined counts as all of them healthy.
    """
    if database is not DependencyStatus.CONNECTED:
        return HealthStatus.UNAVAILABLE
    together = of_pipelines(pipelines.values())
    if together is not HealthStatus.HEALTHY:
        return together
    if database_slow or any(found is not DependencyStatus.CONNECTED for found in others.values()):
        return HealthStatus.DEGRADED
    return HealthStatus.HEALTHY


def of_pipelines(statuses: Iterable[HealthStatus]) -> HealthStatus:
    """The health of all pipelines together; none of them counts as all healthy."""
    seen = set(statuses)
    if len(seen) == 1:
        return seen.pop()
    return HealthStatus.DEGRADED if seen else HealthStatus.HEALTHY


def as_served(status: HealthStatus, state: ServiceState | None) -> HealthStatus:
    """`status` as a caller meets it: a process that is starting or stopping serves nobody."""
    if state is None or state in _SERVING:
        return status
    return HealthStatus.UNAVAILABLE


def state_for(status: HealthStatus) -> ServiceState:
    """The state of a serving process whose health is `status`."""
    return ServiceState.HEALTHY if status is HealthStatus.HEALTHY else ServiceState.DEGRADED
