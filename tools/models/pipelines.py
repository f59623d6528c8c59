"""Pipelines: which technique runs on which corpus, with which defaults and within which limits."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import DEFAULT_DB_ALIAS, models, transaction
from django.db.models import Q
from django.db.models.signals import post_delete
from typing_extensions import override

from tools.contracts import ToolSource
from tools.models.audited import AuditedModel
from tools.models.catalog import Tool
from tools.models.corpora import Corpus
from tools.models.fields import json_object
from tools.models.signals import AnnouncingManager
from tools.techniques import (
    ANSWER_SCHEMA,
    ResourceLimits,
    Technique,
    default_faults,
    input_schema,
    techniques,
)

TOOL_PREFIX: Final = "rag_"
MOST_QUERIES: Final = 5
LONGEST_SECONDS: Final = 60


def technique_choices() -> list[tuple[str, str]]:
    """The registered techniques, for forms; called late because plug-ins register while apps load."""
    return [(technique.name, technique.title) for technique in techniques]


class PipelineConfig(AuditedModel):
    """One pipeline and the one tool that agents call it by."""

    pipeline_name = models.CharField(max_length=64, unique=True)
    tool = models.OneToOneField(Tool, on_delete=models.CASCADE, related_name="pipeline_reference")
    corpus = models.ForeignKey(Corpus, on_delete=models.PROTECT, related_name="pipelines")
    default_parameters = models.JSONField(
        default=dict,
        blank=True,
        validators=[json_object],
        help_text="What holds when a caller does not say otherwise, such as "
        '{"top_k": 5, "embedding_model": "...", "llm_model": "..."}.',
    )
    max_concurrent_queries = models.PositiveSmallIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_QUERIES)],
        help_text="Most queries at the same time, over all workers.",
    )
    timeout_seconds = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(LONGEST_SECONDS)]
    )
    max_tokens = models.PositiveIntegerField(
        default=4096,
        validators=[MinValueValidator(16), MaxValueValidator(1_000_000)],
        help_text="Most tokens of an answer.",
    )
    web_search_tool = models.ForeignKey(
        Tool,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The tool that corrective steps search the web with. Empty: they cannot.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("pipeline_name",)
        verbose_name = "pipeline"
        constraints = (
            models.CheckConstraint(
                condition=Q(max_concurrent_queries__range=(1, MOST_QUERIES)),
                name="pipeline_concurrency_range",
            ),
            models.CheckConstraint(
                condition=Q(timeout_seconds__range=(1, LONGEST_SECONDS)),
                name="pipeline_timeout_range",
            ),
        )

    @override
    def __str__(self) -> str:
        return self.pipeline_name

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the pipeline and its tool together: what agents see is what is configured."""
        technique = self._technique()
        with transaction.atomic():
            if not hasattr(self, "tool"):
                self.tool = self._new_tool(technique)
            self.full_clean()
            self._configure(self.tool, technique)
            super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        self._technique()
        faults = default_faults(self.pipeline_name, self.default_parameters)
        if faults:
            raise ValidationError({"default_parameters": faults})
        # The tool is made when the pipeline is first saved.
        if hasattr(self, "tool") and self.tool.source != ToolSource.PIPELINE:
            raise ValidationError({"tool": f"{self.tool} is not a tool of a pipeline."})

    @property
    def resource_limits(self) -> ResourceLimits:
        """The three limits as one value."""
        return ResourceLimits(self.max_concurrent_queries, self.timeout_seconds, self.max_tokens)

    @property
    def database_connection(self) -> str:
        """The connection pool that this pipeline shares with every other and with the doors."""
        return DEFAULT_DB_ALIAS

    def _technique(self) -> type[Technique]:
        technique = techniques.get(self.pipeline_name)
        if technique is None:
            known = ", ".join(techniques.names())
            raise ValidationError({"pipeline_name": f"Must be one of {known}."})
        return technique

    def _new_tool(self, technique: type[Technique]) -> Tool:
        tool = Tool(
            name=f"{TOOL_PREFIX}{technique.name}",
            title=technique.title,
            description=technique.description,
            input_schema=input_schema(technique, {}),
            output_schema=ANSWER_SCHEMA,
            source=ToolSource.PIPELINE,
            handler=technique.name,
            required_prefix=TOOL_PREFIX,
            read_only=True,
            idempotent=True,
        )
        tool.save()
        return tool

    def _configure(self, tool: Tool, technique: type[Technique]) -> None:
        # As it is stored, and held: whoever describes it anew at this moment writes all of its columns, as we do.
        tool.refresh_from_db(from_queryset=Tool.objects.select_for_update(no_key=True))
        tool.handler = technique.name
        tool.input_schema = input_schema(technique, self.default_parameters)
        tool.max_concurrent = self.max_concurrent_queries
        tool.timeout_seconds = self.timeout_seconds
        tool.save()


def _remove_tool(instance: PipelineConfig, using: str, **kwargs: Any) -> None:
    """A tool without its pipeline could never be called again; it goes along, however it was deleted."""
    Tool.objects.using(using).filter(pk=instance.tool_id).delete()


post_delete.connect(_remove_tool, sender=PipelineConfig, dispatch_uid="remove-pipeline-tool")
