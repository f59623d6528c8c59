"""What was measured, and what changed."""

from __future__ import annotations

from django.db import models
from typing_extensions import override

from health.status import HealthStatus


class Subject(models.TextChoices):
    """What a change of status is about."""

    SERVICE = "service", "Service"
    DEPENDENCY = "dependency", "Dependency"
    PIPELINE = "pipeline", "Pipeline"


class HealthSnapshot(models.Model):
    """One measurement of everything, as the checks of one round found it."""

    taken_at = models.DateTimeField(db_index=True, editable=False)
    status = models.CharField(
        max_length=12, choices=[(item.value, item.value) for item in HealthStatus], editable=False
    )
    report = models.JSONField(editable=False)

    class Meta:
        ordering = ("-taken_at",)
        get_latest_by = "taken_at"
        # Rounds of one status, which may be few among very many.
        indexes = (models.Index(fields=("status", "-taken_at"), name="snapshot_status"),)

    @override
    def __str__(self) -> str:
        return f"{self.status} at {self.taken_at:%Y-%m-%d %H:%M:%S}"


class CurrentHealth(models.Model):
    """The latest report, in one row that whoever adds a later one locks."""

    checked_at = models.DateTimeField(editable=False)
    report = models.JSONField(editable=False)

    class Meta:
        constraints = (models.CheckConstraint(condition=models.Q(pk=1), name="one_current_health"),)

    @override
    def __str__(self) -> str:
        return f"health at {self.checked_at:%Y-%m-%d %H:%M:%S}"


class StatusChange(models.Model):
    """A status that is not what it was: of the service, of a dependency or of a pipeline."""

    at = models.DateTimeField(db_index=True, editable=False)
    subject = models.CharField(max_length=10, choices=Subject.choices, editable=False)
    name = models.CharField(max_length=128, editable=False)
    before = models.CharField(max_length=12, editable=False)
    after = models.CharField(max_length=12, editable=False)
    reason = models.TextField(blank=True, editable=False)

    class Meta:
        ordering = ("-at", "-pk")

    @override
    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"
