"""Upstream MCP servers, and what each of them offers: every tool, prompt and resource pinned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from typing_extensions import override

from tools.models.audited import AuditedModel
from tools.models.fields import json_list
from tools.models.http_rules import PREFIX_PATTERN, network_faults
from tools.models.signals import AnnouncingManager
from tools.models.tool_rules import SLUG_PATTERN
from tools.models.upstream_rules import (
    ERAS,
    LARGEST_MEMORY,
    LONGEST_IDLE,
    LONGEST_RECOVERY,
    LONGEST_SECONDS,
    MOST_FAILURES,
    MOST_RETRIES,
    SERVER_CONSTRAINTS,
    TRANSPORT_ALIASES,
    TRANSPORTS,
    environment_faults,
    secret_header_faults,
    way_faults,
)
from tools.upstreams import Era, Upstream, UpstreamTransport


class NewItems(models.TextChoices):
    """What happens to tools, prompts and resources that were not known before."""

    PASS = "pass", "Pass: agents may use them at once"
    WAIT = "wait", "Wait: until somebody has approved them"


class UpstreamServer(AuditedModel):
    """Another MCP server whose tools, prompts and resources are offered here."""

    slug = models.CharField(
        max_length=64,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Use lower-case letters, digits and hyphens.")],
    )
    display_name = models.CharField(
        "name",
        max_length=200,
        blank=True,
        help_text="What people call it, such as TodoDatabaseServer.",
    )
    description = models.TextField(blank=True)
    transport = models.CharField(
        max_length=16,
        choices=TRANSPORTS,
        default=UpstreamTransport.STREAMABLE_HTTP.value,
        help_text="How it is reached.",
    )
    command = models.CharField(
        max_length=64,
        blank=True,
        help_text="For stdio: which of the commands that UPSTREAM_COMMANDS allows is run.",
    )
    # Sealed JSON objects of texts; written through set_environment and set_headers, opened by who
    # connects.
    environment = models.TextField(blank=True, default="", editable=False)
    headers = models.TextField(blank=True, default="", editable=False)
    url = models.CharField(
        "address",
        max_length=2000,
        blank=True,
        help_text="For the other transports, such as https://mcp.example.org/mcp.",
    )
    prefix = models.CharField(
        max_length=32,
        blank=True,
        validators=[RegexValidator(PREFIX_PATTERN, "Use letters, digits and underscores only.")],
        help_text="What the names of its tools start with here, such as todo_. Empty: their own names.",
    )
    era = models.CharField("protocol", max_length=16, choices=ERAS, default=Era.AUTO.value)
    connect_timeout = models.PositiveSmallIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_SECONDS)],
        help_text="Seconds to connect and shake hands in.",
    )
    call_timeout = models.PositiveSmallIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_SECONDS)],
        help_text="Seconds a call may take, unless its tool says otherwise.",
    )
    retries = models.PositiveSmallIntegerField(
        default=3,
        validators=[MaxValueValidator(MOST_RETRIES)],
        help_text="How often a call is tried again after a broken connection, if it is safe to repeat.",
    )
    connect_at_start = models.BooleanField(
        default=False, help_text="Connect when the service starts, not when the first call comes."
    )
    idle_seconds = models.PositiveIntegerField(
        default=0,
        validators=[MaxValueValidator(LONGEST_IDLE)],
        help_text="Hang up after so many seconds without a call. 0: never.",
    )
    memory_mb = models.PositiveIntegerField(
        "memory in MB",
        default=1024,
        validators=[MinValueValidator(16), MaxValueValidator(LARGEST_MEMORY)],
        help_text="For stdio: most memory of the program and all it starts; above, it is ended.",
    )
    allowed_networks = models.JSONField(
        default=list,
        blank=True,
        validators=[json_list],
        help_text="Private networks it may be in, such as 127.0.0.0/8. Others are refused.",
    )
    unavailable_message = models.CharField(
        max_length=300,
        blank=True,
        help_text="What callers read while it is down, such as: Unable to access todo database. "
        "Please try again later.",
    )
    failure_threshold = models.PositiveSmallIntegerField(
        default=5,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_FAILURES)],
        help_text="Failures in a row after which calls are refused for a while.",
    )
    recovery_timeout = models.PositiveSmallIntegerField(
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_RECOVERY)],
        help_text="Seconds for which they are refused before one call may try again.",
    )
    new_items = models.CharField(
        max_length=8,
        choices=NewItems.choices,
        default=NewItems.PASS.value,
        help_text="What happens to what it newly offers, from the first discovery on.",
    )
    enabled = models.BooleanField(default=True, help_text="Whether agents see and call its tools.")
    # What the last discovery that said something new came to, and the hash of all it found.
    last_discovery = models.JSONField(default=dict, blank=True, editable=False)
    discovered_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    discovered_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("slug",)
        verbose_name = "MCP server"
        verbose_name_plural = "MCP servers"
        constraints = SERVER_CONSTRAINTS

    @override
    def __str__(self) -> str:
        return self.display_name or self.slug

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.transport = TRANSPORT_ALIASES.get(self.transport, self.transport)
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        faults = way_faults(self.transport, self.command, self.url)
        if networks := network_faults(self.allowed_networks):
            faults["allowed_networks"] = networks
        if faults:
            raise ValidationError(faults)

    def set_headers(self, headers: Mapping[str, str]) -> None:
        """Keep headers for every request; nobody can read their values back. Empty forgets them.

        Raises:
            ValidationError: one of them cannot be sent.
        """
        self.headers = _sealed(headers, secret_header_faults(headers))

    def set_environment(self, environment: Mapping[str, str]) -> None:
        """Keep variables for the child process; nobody can read their values back.

        Raises:
            ValidationError: one of them cannot be set.
        """
        self.environment = _sealed(environment, environment_faults(environment))

    def header_names(self) -> list[str]:
        """Which headers are kept; raises VaultFault when they cannot be opened."""
        return _names(self.headers)

    def environment_names(self) -> list[str]:
        """Which variables are kept; raises VaultFault when they cannot be opened."""
        return _names(self.environment)

    def to_value(self) -> Upstream:
        """The server as who connects to it knows it."""
        copied = (
            "slug display_name command environment url headers connect_timeout call_timeout retries "
            "connect_at_start idle_seconds memory_mb unavailable_message"
        )
        return Upstream(
            **{name: getattr(self, name) for name in copied.split()},
            transport=UpstreamTransport(self.transport),
            era=Era(self.era),
            allowed_networks=tuple(self.allowed_networks),
        )


def _sealed(values: Mapping[str, str], faults: list[str]) -> str:
    if faults:
        raise ValidationError(faults)
    # Only who writes secrets pays for the cryptography.
    from tools.vault import seal

    return seal(json.dumps(dict(values))) if values else ""


def _names(sealed: str) -> list[str]:
    from tools.vault import unseal

    return sorted(json.loads(unseal(sealed))) if sealed else []
