"""Tools and the sets they are granted in."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.contracts import ToolSource
from tools.models.audited import AuditedModel
from tools.models.fields import json_list, json_object, json_value
from tools.models.offerings import Prompt, Resource
from tools.models.signals import AnnouncingManager
from tools.models.tool_rules import (
    LONGEST_CACHE_TTL,
    NAME_PATTERN,
    SCOPE_PATTERN,
    SHORTEST_DESCRIPTION,
    SLUG_PATTERN,
    TOOL_CONSTRAINTS,
    extends,
    header_faults,
    output_schema_faults,
    with_required_listed,
)
from tools.schemas import (
    ArgumentFault,
    compile_schema,
    describe,
    fill_defaults,
    object_schema_faults,
)


class CatalogState(models.Model):
    """One row whose number grows with every change of the catalogue; processes compare it."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    version = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(id=1), name="catalog_state_has_one_row"),)

    @override
    def __str__(self) -> str:
        return f"version {self.version}"


class Tool(AuditedModel):
    """A tool an agent can call: what it is named, what it takes, who does the work, its limits."""

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[
            RegexValidator(
                NAME_PATTERN,
                "Use letters, digits and underscores only, and do not start with a digit.",
            )
        ],
        help_text="What agents call it: a Python identifier of at most 64 characters, unique.",
    )
    title = models.CharField(max_length=200, blank=True, help_text="Shown to people by clients.")
    description = models.TextField(
        help_text="What it does and when to use it; models choose tools by this text."
    )
    input_schema = models.JSONField(
        default=dict,
        validators=[json_value],
        help_text="JSON Schema of the arguments: an object with properties.",
    )
    output_schema = models.JSONField(
        null=True,
        blank=True,
        validators=[json_value],
        help_text="JSON Schema of the result, when it has a fixed shape.",
    )
    source = models.CharField(
        max_length=16, choices=[(item.value, item.value) for item in ToolSource]
    )
    handler = models.CharField(
        max_length=200,
        help_text="Which function, pipeline, remote tool or operation does the work.",
    )
    remote_name = models.CharField(
        max_length=200, blank=True, help_text="The source's own name for it."
    )
    required_prefix = models.CharField(
        max_length=32, blank=True, help_text="What names of this source must start with."
    )
    enabled = models.BooleanField(default=True, help_text="Whether agents see it and may call it.")
    read_only = models.BooleanField(default=False, help_text="Changes nothing.")
    destructive = models.BooleanField(default=False, help_text="May delete or overwrite.")
    idempotent = models.BooleanField(
        default=False, help_text="Calling it twice is as calling it once."
    )
    tags = models.JSONField(default=list, blank=True, validators=[json_list])
    metadata = models.JSONField(default=dict, blank=True, validators=[json_object])
    timeout_seconds = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(60)]
    )
    max_concurrent = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="Most calls at the same time over all processes. Empty: no limit.",
    )
    queue_timeout_seconds = models.PositiveSmallIntegerField(
        default=5,
        validators=[MaxValueValidator(60)],
        help_text="How long a call waits for its turn before it is refused.",
    )
    cache_ttl_seconds = models.PositiveIntegerField(
        "cache TTL seconds",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_CACHE_TTL)],
        help_text="How long a successful result is reused. Empty: never.",
    )
    dependency = models.CharField(
        max_length=100, blank=True, help_text="Name of the circuit breaker around it. Empty: none."
    )
    requires_context_management = models.BooleanField(
        default=False, help_text="Count the result's tokens and shorten it above the budget."
    )
    token_budget = models.PositiveIntegerField(
        default=2000, validators=[MinValueValidator(100), MaxValueValidator(1_000_000)]
    )
    preserve_keys = models.JSONField(
        default=list,
        blank=True,
        validators=[json_list],
        help_text="Keys of the result that shortening never drops.",
    )
    keep_body = models.BooleanField(
        default=True, help_text="Keep the (capped) result in the request log."
    )
    long_running = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Calls of clients that understand tasks are answered with a task and run by a "
        "worker.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("name",)
        constraints = TOOL_CONSTRAINTS

    @override
    def __str__(self) -> str:
        return self.name

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Refuse an invalid definition whichever way it is saved: one bad row hurts every caller."""
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        """Check what one field alone cannot tell; `required` flags move to where JSON Schema has them."""
        self.input_schema = with_required_listed(self.input_schema)
        faults: dict[str, list[str]] = {}
        for field, messages in self._faults():
            if messages:
                faults.setdefault(field, []).extend(messages)
        if faults:
            raise ValidationError(faults)

    def _faults(self) -> Iterable[tuple[str, list[str]]]:
        name, description = self.name or "", self.description or ""
        if keyword.iskeyword(name):
            yield "name", [f"{name} is a Python keyword."]
        if self.required_prefix and not extends(name, self.required_prefix):
            yield "name", [f"Must be {self.required_prefix} and at least one more character."]
        least = 1 if self.source == ToolSource.UPSTREAM else SHORTEST_DESCRIPTION
        if len(description.strip()) < least:
            yield "description", [f"Write at least {least} characters that say when to use it."]
        if "\0" in description + (self.title or ""):
            yield "description", ["Texts cannot hold NUL characters."]
        # An empty value has its own message: the field is required.
        if self.input_schema:
            yield "input_schema", object_schema_faults(self.input_schema)
            yield "input_schema", header_faults(self.input_schema)
        if self.output_schema is not None:
            yield "output_schema", output_schema_faults(self.output_schema)
        if self.read_only and self.destructive:
            yield "destructive", ["A read-only tool cannot be destructive."]

    def problems(self) -> list[str]:
        """What is wrong with this row as it stands, found without asking the database."""
        try:
            self.full_clean(validate_unique=False, validate_constraints=False)
        except ValidationError as fault:
            return [
                f"{field}: {message}"
                for field, messages in fault.message_dict.items()
                for message in messages
            ]
        return []

    def validate_parameters(self, parameters: Any) -> list[ArgumentFault]:
        """What is wrong with the arguments of a call, defaults filled in; empty when nothing is."""
        filled = (
            fill_defaults(self.input_schema, parameters)
            if isinstance(parameters, dict)
            else parameters
        )
        return [describe(error) for error in compile_schema(self.input_schema).iter_errors(filled)]

    def to_mcp_schema(self) -> dict[str, Any]:
        """The definition as MCP lists it; `required` is always an array."""
        schema = with_required_listed(self.input_schema)
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": {**schema, "required": schema.get("required", [])},
        }


class Toolset(AuditedModel):
    """A named group of tools, prompts and resources; API clients see those they were granted."""

    slug = models.CharField(
        max_length=64,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Use lower-case letters, digits and hyphens.")],
    )
    title = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="Shown to people by clients.",
    )
    description = models.CharField(max_length=300, blank=True)
    includes_all = models.BooleanField(
        default=False,
        help_text="Holds every tool, prompt and resource, also ones added later.",
    )
    tools = models.ManyToManyField(Tool, related_name="toolsets", blank=True)
    prompts = models.ManyToManyField(Prompt, related_name="toolsets", blank=True)
    resources = models.ManyToManyField(Resource, related_name="toolsets", blank=True)
    search_only = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Agents list only tool_search and call_tool, and find the tools through them.",
    )
    oauth_scope = models.CharField(
        "OAuth scope",
        max_length=128,
        blank=True,
        default="",
        db_default="",
        validators=[RegexValidator(SCOPE_PATTERN, "Use one OAuth scope, without spaces.")],
        help_text="The scope that grants this set to the bearer of an OAuth token. Empty: none does.",
    )

    objects = AnnouncingManager()

    class Meta:
        ordering = ("slug",)
        constraints = (
            models.CheckConstraint(
                condition=Q(slug__regex=SLUG_PATTERN), name="toolset_slug_pattern"
            ),
            models.CheckConstraint(
                condition=Q(oauth_scope="") | Q(oauth_scope__regex=SCOPE_PATTERN),
                name="toolset_oauth_scope_pattern",
            ),
            models.UniqueConstraint(
                fields=("oauth_scope",),
                condition=~Q(oauth_scope=""),
                name="toolset_oauth_scope_unique",
                violation_error_message="Another toolset has this OAuth scope.",
            ),
        )

    @override
    def __str__(self) -> str:
        return self.slug

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)
