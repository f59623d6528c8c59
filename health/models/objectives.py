"""What is promised of tools, and of the service as a whole."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from typing_extensions import override


class Counting(models.TextChoices):
    """Which failures speak against the promise. What a caller does wrong never does."""

    OWN = "own", "Failures of this service alone"
    ALL = "all", "Failures of this service and of what is behind the tool"


class ServiceLevelObjective(models.Model):
    """How many calls are to succeed, and how quickly, over the last so many days.

    Without a tool it is about all calls together. What may fail within the promise is its error budget.
    """

    tool = models.CharField(
        max_length=64,
        blank=True,
        unique=True,
        help_text="Name of a tool. Empty: all calls of the service together.",
    )
    availability_percent = models.DecimalField(
        "availability",
        max_digits=6,
        decimal_places=3,
        default=99.5,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Percent of calls that are to succeed.",
    )
    latency_ms = models.PositiveIntegerField(
        "response time",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Milliseconds. Empty: nothing is promised of response times.",
    )
    latency_percent = models.DecimalField(
        "share within it",
        max_digits=6,
        decimal_places=3,
        default=95,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Percent of successful calls that are to take no longer.",
    )
    window_days = models.PositiveSmallIntegerField(
        "days",
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(365)],
        help_text="How many days back is counted.",
    )
    counting = models.CharField(max_length=4, choices=Counting.choices, default=Counting.OWN)
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ("tool",)
        constraints = (
            models.CheckConstraint(
                condition=Q(availability_percent__gte=1, availability_percent__lte=100)
                & Q(latency_percent__gte=1, latency_percent__lte=100),
                name="objective_percents",
            ),
            models.CheckConstraint(
                condition=Q(window_days__gte=1, window_days__lte=365), name="objective_window"
            ),
        )

    @override
    def __str__(self) -> str:
        return self.tool or "All calls"

    @override
    def clean(self) -> None:
        self.tool = self.tool.strip()
        if self.latency_ms == 0:
            raise ValidationError({"latency_ms": "Use at least 1 millisecond, or leave it empty."})
