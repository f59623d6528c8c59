"""Failed log-ins in the admin: who is locked out, and how to let them in again."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.texts import badge, moment


@admin.register(AccessAttempt)
class AccessAttemptAdmin(ModelAdmin):
    """Failures by person and address. Whoever deletes a row lets them try again."""

    list_display = ("username", "ip_address", "failures", "locked", "latest")
    list_display_links = ("username",)
    search_fields = ("username", "ip_address")
    ordering = ("-attempt_time",)
    fields = ("username", "ip_address", "failures", "locked", "latest", "user_agent")
    readonly_fields = fields

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="Failed log-ins")
    def failures(self, row: AccessAttempt) -> int:
        return int(row.failures_since_start)

    @admin.display(description="Locked out")
    def locked(self, row: AccessAttempt) -> str:
        locked = row.failures_since_start >= settings.AXES_FAILURE_LIMIT
        return badge("locked out", "danger") if locked else "-"

    @admin.display(description="Latest")
    def latest(self, row: AccessAttempt) -> str:
        return moment(row.attempt_time)
