"""Service configuration in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.texts import moment
from tools.conf import deployment
from tools.models import ServiceConfiguration


@admin.register(ServiceConfiguration)
class ServiceConfigurationAdmin(JsonFieldsMixin, ModelAdmin):
    """How services listen, are watched and protected."""

    form = GuardedForm
    list_display = (
        "service_name",
        "address",
        "security_api_keys_enabled",
        "security_rate_limit",
        "monitoring_metrics_enabled",
        "updated",
    )
    search_fields = ("service_name",)
    readonly_fields = ("overridden", "updated")
    fieldsets = (
        ("Service", {"fields": ("service_name", "service_host", "service_port", "overridden")}),
        ("Security", {"fields": ("security_api_keys_enabled", "security_rate_limit")}),
        (
            "Monitoring",
            {
                "fields": (
                    "monitoring_metrics_enabled",
                    "monitoring_health_check_interval",
                    "monitoring_dependency_timeout_ms",
                    "logging_level",
                )
            },
        ),
        (
            "Server",
            {
                "fields": (
                    "server_workers",
                    "server_timeout",
                    "server_graceful_shutdown_seconds",
                    "mcp_max_connections",
                )
            },
        ),
        ("Browsers", {"fields": ("cors_enabled", "cors_allowed_origins")}),
        ("Dependencies", {"fields": ("dependencies", "updated")}),
    )

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The last configuration stays: without one a service would fall back to defaults unseen."""
        allowed = bool(super().has_delete_permission(request, obj))
        return allowed and ServiceConfiguration.objects.count() > 1

    @override
    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Deleting is for one row at a time, so that the last one stays."""
        actions: dict[str, Any] = super().get_actions(request)
        return {name: action for name, action in actions.items() if name != "delete_selected"}

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, row: ServiceConfiguration) -> str:
        return moment(row.updated_at)

    @admin.display(description="Configured address", ordering="service_host")
    def address(self, row: ServiceConfiguration) -> str:
        return f"{row.service_host}:{row.service_port}"

    @admin.display(description="Overridden by the environment")
    def overridden(self, row: ServiceConfiguration) -> str:
        """Settings for which the environment has the last word, whatever is saved here."""
        overrides = deployment().service_overrides
        return (
            ", ".join(f"{name}={value}" for name, value in sorted(overrides.items())) or "nothing"
        )
