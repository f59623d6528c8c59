"""How well pipelines find what people judged to be relevant: what was asked for, and what came of it."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.models.corpora import IndexVersion
from tools.models.questions import QuestionSet


class JobState(models.TextChoices):
    """How far an evaluation is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


class PartState(models.TextChoices):
    """How far one pipeline of an evaluation is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNDER_WAY: Final = (JobState.WAITING.value, JobState.RUNNING.value)


class EvaluationJob(models.Model):
    """Pipelines to be measured by a worker, on one set of questions and one index version."""

    question_set = models.ForeignKey(
        QuestionSet, on_delete=models.CASCADE, related_name="evaluations"
    )
    version = models.ForeignKey(
        IndexVersion, null=True, on_delete=models.SET_NULL, related_name="evaluation_jobs"
    )
    state = models.CharField(
        max_length=16, choices=JobState.choices, default=JobState.WAITING.value
    )
    error = models.CharField(max_length=1000, blank=True, default="")
    started_by = models.CharField(max_length=150, blank=True, default="")
    # Whoever works on it; a worker that finds another's name here stops.
    runner = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    # Moves while a worker is at it, so that one whose worker died can be told.
    touched_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("question_set",),
                condition=Q(state__in=UNDER_WAY),
                name="one_evaluation_of_a_set",
            ),
        )
        indexes = (models.Index(fields=("state", "touched_at"), name="evaluation_job_open"),)

    @override
    def __str__(self) -> str:
        return f"{self.question_set_id} #{self.pk}"


class EvaluationPart(models.Model):
    """One pipeline of an evaluation and how far it is."""

    job = models.ForeignKey(EvaluationJob, on_delete=models.CASCADE, related_name="parts")
    pipeline_name = models.CharField(max_length=64)
    state = models.CharField(
        max_length=16, choices=PartState.choices, default=PartState.WAITING.value
    )
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=1000, blank=True, default="")
    # A pipeline that ends the worker that measures it is given up after a few.
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("job", "pk")
        constraints = (
            models.UniqueConstraint(fields=("job", "pipeline_name"), name="evaluation_part_unique"),
        )

    @override
    def __str__(self) -> str:
        return self.pipeline_name


class EvaluationRun(models.Model):
    """How well a pipeline found what a collection with judgements says it should."""

    pipeline_name = models.CharField(max_length=64)
    version = models.ForeignKey(
        IndexVersion, null=True, on_delete=models.SET_NULL, related_name="evaluations"
    )
    dataset = models.CharField(max_length=200)
    question_set = models.ForeignKey(
        QuestionSet, null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    part = models.OneToOneField(
        EvaluationPart, null=True, on_delete=models.SET_NULL, related_name="run"
    )
    parameters = models.JSONField(default=dict)
    queries = models.PositiveIntegerField()
    measures = models.JSONField(default=dict, help_text="Measures by name, and latencies in ms.")
    per_query = models.JSONField(default=dict, help_text="nDCG@10 by query, for paired tests.")
    comparison = models.JSONField(
        default=dict, blank=True, help_text="Against the previous run: difference and p value."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)
        indexes = (
            models.Index(
                fields=("dataset", "pipeline_name", "-created_at"), name="evaluation_latest"
            ),
        )

    @override
    def __str__(self) -> str:
        return f"{self.pipeline_name} on {self.dataset}"
