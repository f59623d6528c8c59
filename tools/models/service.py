"""How a service is configured."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.conf import (
    KEYS,
    LOG_LEVELS,
    ServiceSettings,
    check_host,
    check_origins,
    deployment,
)
from tools.models.audited import AuditedModel
from tools.models.fields import json_list, json_object
from tools.models.signals import AnnouncingManager

NAME_PATTERN = r"^[a-z][a-z0-9-]{0,63}\Z"
HOST_PATTERN = r"^[A-Za-z0-9.:-]{1,255}\Z"
DEFAULTS = ServiceSettings()
KEYLESS_NETWORK = "Listening beyond this machine needs API keys on (security_api_keys_enabled)."


def host(value: str) -> None:
    """Refuse what the web process could not listen on."""
    try:
        check_host(value)
    except ValueError as fault:
        raise ValidationError(f"The host {fault}.") from fault


def origins(value: Any) -> None:
    """Refuse anything but a list of origins."""
    json_list(value)
    try:
        check_origins(value)
    except ValueError as fault:
        raise ValidationError(f"{fault}.") from fault


class ServiceConfiguration(AuditedModel):
    """One service: its name, where it listens, how it is watched and protected."""

    service_name = models.CharField(
        "name",
        max_length=64,
        unique=True,
        validators=[RegexValidator(NAME_PATTERN, "Use lower-case letters, digits and hyphens.")],
    )
    service_port = models.PositiveIntegerField(
        "port",
        default=DEFAULTS.service_port,
        validators=[MinValueValidator(1024), MaxValueValidator(65535)],
        help_text="Takes effect at the next start.",
    )
    service_host = models.CharField(
        "host",
        max_length=255,
        default=DEFAULTS.service_host,
        validators=[host],
        help_text="127.0.0.1 for this machine alone. Anything wider needs API keys on. Takes effect at the next start.",
    )
    server_workers = models.PositiveSmallIntegerField(
        "workers",
        default=DEFAULTS.server_workers,
        validators=[MinValueValidator(1), MaxValueValidator(64)],
        help_text="Web processes. Takes effect at the next start.",
    )
    server_timeout = models.PositiveSmallIntegerField(
        "time limit of a call",
        default=DEFAULTS.server_timeout,
        validators=[MinValueValidator(1), MaxValueValidator(300)],
        help_text="Most seconds any call may take.",
    )
    server_graceful_shutdown_seconds = models.PositiveSmallIntegerField(
        "seconds to shut down in",
        default=DEFAULTS.server_graceful_shutdown_seconds,
        validators=[MinValueValidator(1), MaxValueValidator(60)],
        help_text="Seconds given to calls in flight on stop.",
    )
    monitoring_metrics_enabled = models.BooleanField(
        "metrics", default=True, help_text="Whether GET /metrics answers."
    )
    monitoring_health_check_interval = models.PositiveIntegerField(
        "health check interval",
        default=DEFAULTS.monitoring_health_check_interval,
        validators=[MinValueValidator(10)],
        help_text="Seconds between health checks, at least 10.",
    )
    monitoring_dependency_timeout_ms = models.PositiveIntegerField(
        "time limit of a dependency check",
        default=DEFAULTS.monitoring_dependency_timeout_ms,
        validators=[MinValueValidator(10), MaxValueValidator(60_000)],
        help_text="Milliseconds.",
    )
    security_api_keys_enabled = models.BooleanField(
        "API keys required", default=False, help_text="Whether callers must present an API key."
    )
    security_rate_limit = models.PositiveIntegerField(
        "rate limit",
        default=DEFAULTS.security_rate_limit,
        validators=[MinValueValidator(10)],
        help_text="Calls per minute and client, at least 10.",
    )
    cors_enabled = models.BooleanField(
        "CORS", default=True, help_text="Whether browsers on other origins may call the REST API."
    )
    cors_allowed_origins = models.JSONField(
        "allowed origins",
        default=list,
        blank=True,
        validators=[origins],
        help_text='Allowed beside localhost, such as ["https://app.example"].',
    )
    mcp_max_connections = models.PositiveIntegerField(
        "MCP connections",
        default=DEFAULTS.mcp_max_connections,
        validators=[MinValueValidator(1), MaxValueValidator(100_000)],
        help_text="Most MCP clients served at the same time, per transport and web process.",
    )
    logging_level = models.CharField(
        "log level", max_length=8, default="INFO", choices=[(level, level) for level in LOG_LEVELS]
    )
    dependencies = models.JSONField(
        default=dict,
        blank=True,
        validators=[json_object],
        help_text='Settings of what the service leans on, such as {"memgraph": {"host": "localhost"}}.',
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("service_name",)
        constraints = (
            models.CheckConstraint(
                condition=Q(service_name__regex=NAME_PATTERN), name="service_name_pattern"
            ),
            models.CheckConstraint(
                condition=Q(service_port__gte=1024, service_port__lte=65535),
                name="service_port_range",
            ),
            models.CheckConstraint(
                condition=Q(service_host__regex=HOST_PATTERN), name="service_host_pattern"
            ),
            models.CheckConstraint(
                condition=Q(server_workers__gte=1, server_workers__lte=64),
                name="service_workers_range",
            ),
            models.CheckConstraint(
                condition=Q(server_timeout__gte=1, server_timeout__lte=300),
                name="service_timeout_range",
            ),
            models.CheckConstraint(
                condition=Q(
                    server_graceful_shutdown_seconds__gte=1,
                    server_graceful_shutdown_seconds__lte=60,
                ),
                name="service_shutdown_range",
            ),
            models.CheckConstraint(
                condition=Q(
                    monitoring_dependency_timeout_ms__gte=10,
                    monitoring_dependency_timeout_ms__lte=60_000,
                ),
                name="service_dependency_timeout_range",
            ),
            models.CheckConstraint(
                condition=Q(mcp_max_connections__gte=1, mcp_max_connections__lte=100_000),
                name="service_mcp_connections_range",
            ),
            models.CheckConstraint(
                condition=Q(logging_level__in=LOG_LEVELS), name="service_log_level_known"
            ),
            models.CheckConstraint(
                condition=Q(monitoring_health_check_interval__gte=10),
                name="service_health_interval_min",
            ),
            models.CheckConstraint(
                condition=Q(security_rate_limit__gte=10), name="service_rate_limit_min"
            ),
        )

    @override
    def __str__(self) -> str:
        return self.service_name

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        """Refuse to be open to the network and to everybody at once."""
        # The host alone: the other fields may hold anything here, their own checks report it.
        exposed = ServiceSettings(
            service_host=self.service_host or "localhost"
        ).reachable_from_network
        if exposed and not (self.security_api_keys_enabled or deployment().keys_optional):
            raise ValidationError({"service_host": KEYLESS_NETWORK})

    def to_settings(self) -> ServiceSettings:
        """The row as the value the rest of the program reads."""
        values = {key.attribute: getattr(self, key.attribute) for key in KEYS}
        values["cors_allowed_origins"] = tuple(self.cors_allowed_origins or ())
        return ServiceSettings(**values, dependencies=dict(self.dependencies or {}))
