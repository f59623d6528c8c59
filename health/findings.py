"""What checks found, and the report they make together. Plain values that travel as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from health.status import DependencyStatus, HealthStatus
from tools.contracts import wire_time

DATABASE = "database"


def of_pipeline(name: str) -> str:
    """A pipeline among the subjects of a report."""
    return f"pipeline {name}"


class Source(StrEnum):
    """Where a report comes from: a round of the workers, or the process that was asked."""

    SNAPSHOT = "snapshot"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Dependency:
    """What the check of one dependency found; `error` is for everyone, its cause is in the log."""

    status: DependencyStatus
    error: str | None = None
    response_time_ms: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"status": self.status.value}
        if self.error is not None:
            wire["error"] = self.error
        if self.response_time_ms is not None:
            wire["response_time_ms"] = self.response_time_ms
        if self.details:
            wire["details"] = dict(self.details)
        return wire

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> Dependency:
        return cls(**{**wire, "status": DependencyStatus(wire["status"])})


@dataclass(frozen=True, slots=True)
class PipelineHealth:
    """One pipeline. `error_rate` is of the last hour, from 0 to 1; `canary_ms` of the last test query.

    One that is switched off or has nothing to search yet is not `counted`: it says nothing of the
    health of the service.
    """

    status: HealthStatus
    last_success: datetime | None = None
    error_rate: float = 0.0
    error: str | None = None
    canary_ms: int | None = None
    counted: bool = True

    def to_wire(self) -> dict[str, Any]:
        return {
            "status": self.status.value,
            "last_success": wire_time(self.last_success) if self.last_success else None,
            "error_rate": self.error_rate,
            "error": self.error,
            "canary_ms": self.canary_ms,
            "counted": self.counted,
        }

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> PipelineHealth:
        succeeded = wire["last_success"]
        return cls(
            **{
                **wire,
                "status": HealthStatus(wire["status"]),
                "last_success": datetime.fromisoformat(succeeded) if succeeded else None,
            }
        )


@dataclass(frozen=True, slots=True)
class HealthReport:
    """One measurement of everything.

    `breakers` has state and failures in a row by the name of the dependency, `calls` those of the last
    hour over all processes, `objectives` how each stands; all are empty when they could not be read.
    """

    status: HealthStatus
    dependencies: Mapping[str, Dependency]
    pool_usage: str
    pipelines: Mapping[str, PipelineHealth] = field(default_factory=dict)
    breakers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: Mapping[str, Any] = field(default_factory=dict)
    objectives: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    checked_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    source: Source = Source.MEASURED

    @property
    def timestamp(self) -> str:
        return wire_time(self.checked_at)

    @property
    def age_seconds(self) -> float:
        return max(0.0, (datetime.now(UTC) - self.checked_at).total_seconds())

    @property
    def reasons(self) -> list[str]:
        """What keeps it from being healthy, one line each."""
        return [f"{subject}: {told}" for subject, told in self.amiss]

    @property
    def amiss(self) -> list[tuple[str, str]]:
        """What is not well, and what was found of it."""
        return [
            *(
                (name, found.error or found.status.value)
                for name, found in self.dependencies.items()
                if found.status is not DependencyStatus.CONNECTED
            ),
            *(
                (of_pipeline(name), found.error or found.status.value)
                for name, found in self.pipelines.items()
                if found.counted and found.status is not HealthStatus.HEALTHY
            ),
        ]

    def dependencies_to_wire(self) -> dict[str, Any]:
        return {name: found.to_wire() for name, found in self.dependencies.items()}

    def pipelines_to_wire(self) -> dict[str, Any]:
        return {name: found.to_wire() for name, found in self.pipelines.items()}

    def database_to_wire(self) -> dict[str, Any]:
        database = self.dependencies[DATABASE]
        return {
            "connected": database.status is DependencyStatus.CONNECTED,
            "response_time_ms": database.response_time_ms,
            "connection_pool_usage": self.pool_usage,
        }

    def for_tools(self) -> dict[str, Any]:
        """The report as the built-in tools take it."""
        return {
            "status": self.status.value,
            "pipelines": self.pipelines_to_wire(),
            "database": self.database_to_wire(),
            "dependencies": self.dependencies_to_wire(),
            "checked_at": self.checked_at,
            "objectives": dict(self.objectives),
            "source": self.source.value,
        }

    def to_json(self) -> dict[str, Any]:
        """The whole report, to be read again."""
        return {
            "status": self.status.value,
            "dependencies": self.dependencies_to_wire(),
            "pool_usage": self.pool_usage,
            "pipelines": self.pipelines_to_wire(),
            "breakers": dict(self.breakers),
            "calls": dict(self.calls),
            "objectives": dict(self.objectives),
            "checked_at": self.checked_at.isoformat(),
            "source": self.source.value,
        }

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> HealthReport:
        """A report that another process made.

        Raises:
            ValueError: it is none; so are KeyError and TypeError.
        """
        return cls(
            status=HealthStatus(wire["status"]),
            dependencies={
                name: Dependency.read(found) for name, found in wire["dependencies"].items()
            },
            pool_usage=wire["pool_usage"],
            pipelines={
                name: PipelineHealth.read(found) for name, found in wire["pipelines"].items()
            },
            breakers=wire["breakers"],
            calls=wire["calls"],
            objectives=wire["objectives"],
            checked_at=datetime.fromisoformat(wire["checked_at"]),
            source=Source(wire["source"]),
        )

    def with_status(
        self, status: HealthStatus, dependencies: Mapping[str, Dependency]
    ) -> HealthReport:
        """The same measurement, with more known about some of it."""
        return replace(self, status=status, dependencies=dependencies)
