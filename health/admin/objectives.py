"""Service level objectives in the admin: what is promised, and how it stands."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin

from health.models import ServiceLevelObjective
from health.objectives import SERVICE, Attainment, attainments
from tools.admin.guarded_form import GuardedForm
from tools.admin.texts import badge

NOTHING = "no calls yet"


@admin.register(ServiceLevelObjective)
class ServiceLevelObjectiveAdmin(ModelAdmin):
    """Promises, with what became of them."""

    form = GuardedForm
    list_display = ("about", "promise", "kept", "budget", "speed", "verdict")
    list_display_links = ("about",)
    list_filter = ("enabled", "counting")
    search_fields = ("tool",)
    readonly_fields = ("kept", "budget", "speed", "verdict")
    fieldsets = (
        (None, {"fields": ("tool", "enabled")}),
        ("Success", {"fields": ("availability_percent", "counting", "window_days")}),
        ("Response time", {"fields": ("latency_ms", "latency_percent")}),
        ("How it stands", {"fields": ("verdict", "kept", "budget", "speed")}),
    )

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fieldsets if obj is not None else self.fieldsets[:-1]

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[ServiceLevelObjective]:
        # Read once for each page: the figures of a month are behind it.
        self.__dict__.pop("_standing", None)
        rows: QuerySet[ServiceLevelObjective] = super().get_queryset(request)
        return rows

    @cached_property
    def _standing(self) -> dict[str, Attainment]:
        return {one.name: one for one in attainments()}

    def _of(self, row: ServiceLevelObjective) -> Attainment | None:
        return self._standing.get(row.tool or SERVICE)

    @admin.display(description="About", ordering="tool")
    def about(self, row: ServiceLevelObjective) -> str:
        return str(row)

    @admin.display(description="Promise")
    def promise(self, row: ServiceLevelObjective) -> str:
        said = f"{row.availability_percent.normalize():f} % succeed over {row.window_days} days"
        if row.latency_ms is not None:
            said += f", {row.latency_percent.normalize():f} % within {row.latency_ms:,} ms"
        return said

    @admin.display(description="Succeeded")
    def kept(self, row: ServiceLevelObjective) -> str:
        found = self._of(row)
        if found is None or found.availability_percent is None:
            return NOTHING
        return f"{found.availability_percent:.3f} % of {found.calls:,} calls"

    @admin.display(description="Error budget burnt")
    def budget(self, row: ServiceLevelObjective) -> str:
        found = self._of(row)
        return f"{100 * found.burnt:.0f} %" if found and found.calls else NOTHING

    @admin.display(description="In time")
    def speed(self, row: ServiceLevelObjective) -> str:
        found = self._of(row)
        if row.latency_ms is None:
            return "not promised"
        return f"{found.within_percent:.2f} %" if found and found.within_percent else NOTHING

    @admin.display(description="Verdict")
    def verdict(self, row: ServiceLevelObjective) -> SafeString:
        found = self._of(row)
        if not row.enabled or found is None:
            return badge("switched off", "info")
        if not found.calls:
            return badge("no calls yet", "info")
        return badge("kept", "success") if found.is_met else badge("broken", "danger")
