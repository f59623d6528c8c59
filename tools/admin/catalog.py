"""Tools and toolsets in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.texts import badge, moment
from tools.models import Tool, Toolset
from tools.services.tool_status import ToolStatus, handler_faults, tool_faults, tool_status

# A row of the list on a phone is two lines high.
LONGEST_SHOWN = 60
STATUS_COLOURS = {
    ToolStatus.HEALTHY: "success",
    ToolStatus.DEGRADED: "warning",
    ToolStatus.UNAVAILABLE: "danger",
}


class ToolForm(forms.ModelForm):
    """A tool's definition; a built-in must name a function that exists."""

    @override
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        faults = handler_faults(cleaned.get("source", ""), cleaned.get("handler", ""))
        if faults and "handler" in cleaned:
            self.add_error(
                "handler", ValidationError([fault.split(": ", 1)[1] for fault in faults])
            )
        return cleaned


@admin.register(Tool)
class ToolAdmin(JsonFieldsMixin, ModelAdmin):
    """What agents can call."""

    form = ToolForm
    list_display = ("name", "title", "source", "enabled", "problem", "updated")
    list_filter = ("enabled", "source", "read_only", "requires_context_management")
    list_filter_submit = False
    search_fields = ("name", "title", "description")
    list_per_page = 50
    actions = ("enable", "disable")
    readonly_fields = ("status", "problems", "calls", "created", "updated")
    warn_unsaved_form = True
    fieldsets = (
        (None, {"fields": ("name", "title", "description", "enabled")}),
        ("State", {"fields": ("status", "problems", "calls")}),
        ("Arguments and result", {"fields": ("input_schema", "output_schema")}),
        (
            "Where the work is done",
            {"fields": ("source", "handler", "remote_name", "required_prefix")},
        ),
        ("What it does to the world", {"fields": ("read_only", "destructive", "idempotent")}),
        (
            "Limits",
            {
                "fields": (
                    "timeout_seconds",
                    "max_concurrent",
                    "queue_timeout_seconds",
                    "cache_ttl_seconds",
                    "dependency",
                )
            },
        ),
        (
            "Size of the answer",
            {
                "fields": (
                    "requires_context_management",
                    "token_budget",
                    "preserve_keys",
                    "keep_body",
                )
            },
        ),
        ("Labels", {"fields": ("tags", "metadata", "created", "updated")}),
    )

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A tool that is being added has no state yet."""
        return [
            (title, options)
            for title, options in self.fieldsets
            if obj is not None or title != "State"
        ]

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields if obj is not None else ("created", "updated")

    @override
    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        given: dict[str, Any] = super().get_changeform_initial_data(request)
        return {"input_schema": {"type": "object", "properties": {}}, **given}

    @admin.display(description="Created")
    def created(self, tool: Tool) -> str:
        return moment(tool.created_at)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, tool: Tool) -> str:
        return moment(tool.updated_at)

    @admin.display(description="Problem")
    def problem(self, tool: Tool) -> str:
        """Why agents do not get this tool, in short, or a dash."""
        faults = tool_faults(tool)
        if not faults:
            return "-"
        more = f" (+{len(faults) - 1})" if len(faults) > 1 else ""
        return _red(Truncator(faults[0]).chars(LONGEST_SHOWN) + more)

    @admin.display(description="Problems")
    def problems(self, tool: Tool) -> str:
        """Everything that keeps this tool from agents."""
        faults = tool_faults(tool)
        return format_html_join("", "{}<br>", ((_red(fault),) for fault in faults)) or "none"

    @admin.display(description="Status")
    def status(self, tool: Tool) -> SafeString:
        found = tool_status(tool)
        return badge(found, STATUS_COLOURS[found])

    @admin.display(description="Calls")
    def calls(self, tool: Tool) -> SafeString:
        address = reverse("admin:tools_toolrequest_changelist")
        query = urlencode({"q": tool.name})
        return format_html(
            '<a class="text-primary-600" href="{}?{}">Show in the request log</a>', address, query
        )

    @admin.action(description="Enable selected tools", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        self._switch(request, queryset, on=True)

    @admin.action(description="Disable selected tools", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        self._switch(request, queryset, on=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[Tool], *, on: bool) -> None:
        # The queryset announces the change, so that running processes follow.
        count = queryset.update(enabled=on, updated_at=timezone.now())
        word = "enabled" if on else "disabled"
        self.message_user(
            request, f"{count} {'tool' if count == 1 else 'tools'} {word}.", messages.SUCCESS
        )


def _red(text: str) -> SafeString:
    return format_html('<span class="text-red-700 dark:text-red-400">{}</span>', text)


@admin.register(Toolset)
class ToolsetAdmin(ModelAdmin):
    """Groups of tools, granted to API clients."""

    list_display = ("slug", "description", "includes_all", "size", "granted_to")
    search_fields = ("slug", "description")
    autocomplete_fields = ("tools",)
    fields = ("slug", "description", "includes_all", "tools")
    conditional_fields = {"tools": "includes_all == false"}

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("tools", "clients")

    @admin.display(description="Tools")
    def size(self, toolset: Toolset) -> str:
        return "all" if toolset.includes_all else str(len(toolset.tools.all()))

    @admin.display(description="Granted to")
    def granted_to(self, toolset: Toolset) -> str:
        return ", ".join(client.name for client in toolset.clients.all()) or "-"
