"""HTTP APIs and their operations, each of which agents call as a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models import Q
from django.db.models.signals import post_delete
from typing_extensions import override

from tools.context.rules import faults as rule_faults
from tools.contracts import ToolSource
from tools.models.audited import AuditedModel
from tools.models.catalog import Tool
from tools.models.fields import json_list, json_object, json_value
from tools.models.http_rules import (
    AUTH_KINDS,
    PREFIX_PATTERN,
    address_faults,
    auth_faults,
    header_faults,
    network_faults,
    operation_faults,
)
from tools.models.signals import AnnouncingManager
from tools.models.tool_rules import SLUG_PATTERN
from tools.operations import METHODS, Operation, Parameter, Service

LONGEST_SECONDS: Final = 60
MOST_RETRIES: Final = 5
MOST_PER_MINUTE: Final = 100_000


class ApiService(AuditedModel):
    """An HTTP API: where it is, how to sign in there, and how it is to be treated."""

    slug = models.CharField(
        max_length=64,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Use lower-case letters, digits and hyphens.")],
    )
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    base_url = models.CharField(
        "address",
        max_length=500,
        help_text="What comes before the path of every operation, such as https://api.example.org/v1.",
    )
    prefix = models.CharField(
        max_length=32,
        blank=True,
        validators=[RegexValidator(PREFIX_PATTERN, "Use letters, digits and underscores only.")],
        help_text="What the names of its tools start with, such as shop_.",
    )
    enabled = models.BooleanField(default=True, help_text="Whether agents see and call its tools.")
    auth = models.CharField(
        "sign-in", max_length=16, choices=AUTH_KINDS, default="none", help_text="How calls sign in."
    )
    auth_name = models.CharField(
        "name of header, parameter or cookie",
        max_length=100,
        blank=True,
        help_text="Where the key goes, such as X-API-Key. Empty for bearer and basic.",
    )
    username = models.CharField(max_length=200, blank=True, help_text="For basic sign-in.")
    # Sealed; written through `set_secret`, opened by the backend alone.
    secret = models.TextField(blank=True, default="", editable=False)
    headers = models.JSONField(
        default=dict,
        blank=True,
        validators=[json_object],
        help_text="Sent with every call. No secrets: these are shown to operators.",
    )
    timeout_seconds = models.PositiveSmallIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(LONGEST_SECONDS)]
    )
    retries = models.PositiveSmallIntegerField(
        default=2,
        validators=[MaxValueValidator(MOST_RETRIES)],
        help_text="How often a request is sent again that failed and can be repeated safely.",
    )
    rate_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PER_MINUTE)],
        help_text="Most requests a minute to this API, over all processes. Empty: no limit.",
    )
    allowed_networks = models.JSONField(
        default=list,
        blank=True,
        validators=[json_list],
        help_text="Private networks it may be in, such as 10.20.0.0/16. Others are refused.",
    )
    imported = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        validators=[json_value],
        help_text="The operations as the last import gave them, by method and path.",
    )
    # Shown to an operator, who has not said yet whether to import it.
    draft = models.TextField(blank=True, default="", editable=False)
    imported_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("slug",)
        verbose_name = "HTTP API"
        verbose_name_plural = "HTTP APIs"
        constraints = (
            models.CheckConstraint(
                condition=Q(timeout_seconds__range=(1, LONGEST_SECONDS)),
                name="api_service_timeout_range",
            ),
            models.CheckConstraint(
                condition=Q(retries__lte=MOST_RETRIES), name="api_service_retries_range"
            ),
        )

    @property
    def dependency(self) -> str:
        """The name of its breaker, and what calls of its tools are counted under."""
        return f"api:{self.slug}"

    @override
    def __str__(self) -> str:
        return self.title or self.slug

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        faults = {
            "base_url": address_faults(self.base_url),
            "auth_name": auth_faults(self.auth, self.auth_name),
            "headers": header_faults(self.headers),
            "allowed_networks": network_faults(self.allowed_networks),
        }
        if found := {field: messages for field, messages in faults.items() if messages}:
            raise ValidationError(found)

    def set_secret(self, text: str) -> None:
        """Keep a key, a token or a password; nobody can read it back. Empty forgets it."""
        # Only who writes secrets pays for the cryptography.
        from tools.vault import seal

        self.secret = seal(text)

    def to_value(self) -> Service:
        """The service as the backend knows it."""
        return Service(
            slug=self.slug,
            base_url=self.base_url,
            auth=self.auth,
            auth_name=self.auth_name,
            username=self.username,
            secret=self.secret,
            headers=self.headers,
            timeout_seconds=self.timeout_seconds,
            retries=self.retries,
            rate_per_minute=self.rate_per_minute,
            allowed_networks=tuple(self.allowed_networks),
        )


class ApiOperation(AuditedModel):
    """One operation of an HTTP API and the one tool that agents call it by."""

    service = models.ForeignKey(ApiService, on_delete=models.CASCADE, related_name="operations")
    tool = models.OneToOneField(Tool, on_delete=models.CASCADE, related_name="api_operation")
    method = models.CharField(max_length=8, choices=[(name, name) for name in METHODS])
    path = models.CharField(
        max_length=1000, help_text="Below the address of the API; {names} are arguments."
    )
    parameters = models.JSONField(
        default=list,
        blank=True,
        validators=[json_value],
        help_text='Where arguments go: [{"argument": "id", "in": "path"}, …]; in is path, query, '
        "header, cookie, body or field.",
    )
    query = models.JSONField(
        default=dict, blank=True, validators=[json_object], help_text="Sent with every call."
    )
    headers = models.JSONField(
        default=dict, blank=True, validators=[json_object], help_text="Sent with every call."
    )
    body = models.JSONField(
        default=dict,
        blank=True,
        validators=[json_object],
        help_text="Sent with every call, under what arguments add.",
    )
    body_type = models.CharField(
        max_length=100, blank=True, help_text="Media type of the body, such as application/json."
    )
    accept = models.CharField(max_length=200, default="application/json")
    select = models.CharField(
        max_length=1000,
        blank=True,
        help_text="JMESPath that picks from the answer what the tool gives. Empty: all of it.",
    )
    rules = models.JSONField(
        default=dict,
        blank=True,
        validators=[json_object],
        help_text="How long answers are shortened: keep, drop, top, whole, page; see the reference.",
    )
    adapter = models.CharField(max_length=64, blank=True, editable=False)
    imported_key = models.CharField(max_length=1010, blank=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("service", "path", "method")
        verbose_name = "operation"
        indexes = (models.Index(fields=("service", "imported_key"), name="operation_imported"),)

    @override
    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the operation and what its tool must say of it together."""
        with transaction.atomic():
            self.full_clean()
            before = _configured(self.tool)
            self.configure(self.tool)
            # Saving a tool takes longer than all the rest here, and imports save thousands.
            if _configured(self.tool) != before:
                self.tool.save()
            super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        schema = self.tool.input_schema if self.tool_id else {}
        faults = operation_faults(self.written(), schema)
        faults["rules"] = rule_faults(self.rules)
        if self.tool_id and self.tool.source != ToolSource.HTTP_API:
            faults["tool"] = [f"{self.tool} is not a tool of an HTTP API."]
        if found := {field: messages for field, messages in faults.items() if messages}:
            raise ValidationError(found)

    def configure(self, tool: Tool) -> None:
        """What follows for the tool from the operation and its service."""
        tool.source = ToolSource.HTTP_API
        tool.handler = f"{self.service.slug} {self.method} {self.path}"[:200]
        tool.required_prefix = self.service.prefix
        tool.dependency = tool.dependency or self.service.dependency

    def argument_faults(self, schema: Mapping[str, Any]) -> list[str]:
        """What is wrong with the way arguments of this schema go into the request."""
        return operation_faults(self.written(), schema)["parameters"]

    def written(self) -> dict[str, Any]:
        """The operation as JSON, as `Operation.from_json` reads it."""
        names = [
            "method",
            "path",
            "parameters",
            "body_type",
            "query",
            "headers",
            "body",
            "accept",
            "select",
        ]
        return {name: getattr(self, name) for name in names}

    def take(self, operation: Operation) -> None:
        """Become this operation."""
        for name in ["method", "path", "body_type", "accept", "select"]:
            setattr(self, name, getattr(operation, name))
        for name in ("query", "headers", "body"):
            setattr(self, name, dict(getattr(operation, name)))
        self.parameters = [Parameter.to_json(one) for one in operation.parameters]

    def binding(self) -> dict[str, Any]:
        """What the backend needs to make the request."""
        bound: dict[str, Any] = {
            "service": self.service.to_value().to_json(),
            "operation": Operation.from_json(self.written()).to_json(),
        }
        if self.adapter:
            bound["adapter"] = self.adapter
        if self.rules:
            bound["rules"] = self.rules
        return bound


def _configured(tool: Tool) -> tuple[str, ...]:
    """What `ApiOperation.configure` sets."""
    return tool.source, tool.handler, tool.required_prefix, tool.dependency


def _remove_tool(instance: ApiOperation, using: str, **kwargs: Any) -> None:
    """A tool without its operation could never be called again; it goes along."""
    Tool.objects.using(using).filter(pk=instance.tool_id).delete()


post_delete.connect(_remove_tool, sender=ApiOperation, dispatch_uid="remove-operation-tool")
