"""Failed log-ins in the admin: who is locked out, and how to let them in again."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from typing_extensions import override
from unfold.admin import ModelAdmin

from controlplane.address_limit import locked_addresses
from tools.admin.texts import badge, moment
from tools.services.audit.recording import Action, record_action


@admin.register(AccessAttempt)
class AccessAttemptAdmin(ModelAdmin):
    """Failures by person and address. Whoever deletes a row lets them try again."""

    what_comes_here = (
        "Whoever gives a wrong name or password is written down here, with the address."
    )
    list_display = ("username", "ip_address", "failures", "locked", "latest")
    list_display_links = ("username",)
    search_fields = ("username", "ip_address")
    ordering = ("-attempt_time",)
    fields = ("username", "ip_address", "failures", "locked", "latest", "user_agent")
    readonly_fields = fields

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessAttempt]:
        # Asked once for each page, not for each of its rows.
        self.__dict__.pop("_locked_addresses", None)
        rows: QuerySet[AccessAttempt] = super().get_queryset(request)
        return rows

    @cached_property
    def _locked_addresses(self) -> set[str | None]:
        return locked_addresses()

    @override
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def delete_model(self, request: HttpRequest, obj: AccessAttempt) -> None:
        with transaction.atomic():
            _note(obj)
            super().delete_model(request, obj)

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[AccessAttempt]) -> None:
        with transaction.atomic():
            for row in queryset:
                _note(row)
            super().delete_queryset(request, queryset)

    @override
    def response_delete(
        self, request: HttpRequest, obj_display: str, obj_id: int | str
    ) -> HttpResponse:
        """To the others, to which the admin itself leads only those who may change rows."""
        super().response_delete(request, obj_display, obj_id)
        return redirect("admin:axes_accessattempt_changelist")

    @admin.display(description="Failed log-ins")
    def failures(self, row: AccessAttempt) -> int:
        return int(row.failures_since_start)

    @admin.display(description="Locked out")
    def locked(self, row: AccessAttempt) -> str:
        # Nobody removes the row when the time is over.
        if datetime.now(UTC) - row.attempt_time >= settings.AXES_COOLOFF_TIME:
            return "-"
        if row.ip_address in self._locked_addresses:
            return badge("address locked out", "danger")
        locked = row.failures_since_start >= settings.AXES_FAILURE_LIMIT
        return badge("locked out", "danger") if locked else "-"

    @admin.display(description="Latest")
    def latest(self, row: AccessAttempt) -> str:
        return moment(row.attempt_time)


def _note(row: AccessAttempt) -> None:
    """Somebody may try again: that is told, while failures come and go by themselves."""
    told = f"{row.failures_since_start} failed log-ins from {row.ip_address} were forgotten."
    record_action(
        Action.UNLOCKED, "axes.accessattempt", str(row.username), object_id=row.pk, note=told
    )
