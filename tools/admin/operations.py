"""Operations of HTTP APIs in the admin: the request, and what agents see of it, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonField, JsonFieldsMixin, JsonTextarea
from tools.admin.operation_values import ToolValues
from tools.admin.texts import badge, unbroken
from tools.contracts import ToolSource
from tools.models import ApiOperation, Tool

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
TOOL_FIELDS: Final = (
    *("name", "description", "input_schema", "enabled", "read_only", "destructive"),
    *("idempotent", "cache_ttl_seconds", "requires_context_management"),
)


def _switch(label: str, text: str) -> forms.BooleanField:
    return forms.BooleanField(
        label=label, required=False, widget=UnfoldBooleanSwitchWidget, help_text=text
    )


class ApiOperationForm(GuardedForm):
    """An operation, and the parts of its tool that belong to it."""

    name = forms.CharField(
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
        help_text="What agents call it; starts with the prefix of the API.",
    )
    description = forms.CharField(
        widget=UnfoldAdminTextareaWidget,
        help_text="What it does and when to use it; models choose tools by this text.",
    )
    input_schema = JsonField(
        label="Arguments",
        widget=JsonTextarea,
        help_text="JSON Schema of the arguments: an object with properties.",
    )
    enabled = _switch("Enabled", "Whether agents see it and may call it.")
    read_only = _switch("Read-only", "Changes nothing.")
    destructive = _switch("Destructive", "May delete or overwrite.")
    idempotent = _switch("Idempotent", "Calling it twice is as calling it once.")
    cache_ttl_seconds = forms.IntegerField(
        label="Cache, in seconds",
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="How long an answer is reused, and given while the API is down. Empty: never.",
    )
    requires_context_management = _switch(
        "Shorten long answers", "Above the tool's token budget; the whole stays readable."
    )

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tool = self.instance.tool if self.instance.tool_id else None
        for name in TOOL_FIELDS:
            if name in self.fields:
                self.fields[name].initial = getattr(tool, name) if tool else _USUAL.get(name)

    @override
    def rows(self) -> Sequence[models.Model]:
        # As they are saved, so that two who save wait for each other in one order.
        return [self.instance.tool, self.instance]

    def _post_clean(self) -> None:
        """The tool first: the operation is checked against its arguments."""
        tool = self.instance.tool if self.instance.tool_id else Tool(source=ToolSource.HTTP_API)
        for name in TOOL_FIELDS:
            if name in self.cleaned_data:
                setattr(tool, name, self.cleaned_data[name])
        self.tool = tool
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        self.instance.configure(tool)
        try:
            tool.full_clean()
        except ValidationError as fault:
            for field, found in fault.message_dict.items():
                self.add_error(field if field in self.fields else None, found)

    @override
    def save(self, commit: bool = True) -> Any:
        with transaction.atomic():
            self.tool.save()
            self.instance.tool = self.tool
            return super().save(commit)


_USUAL: Final = {
    "enabled": True,
    "requires_context_management": True,
    "input_schema": {"type": "object", "properties": {}},
}


@admin.register(ApiOperation)
class ApiOperationAdmin(ToolValues, JsonFieldsMixin, ModelAdmin):
    """What agents can ask HTTP APIs for."""

    what_comes_here = "One request of an HTTP API, offered as a tool."
    form = ApiOperationForm
    schema_rules: ClassVar = {"input_schema": "input_schema"}
    # Made with the operation.
    exclude = ("tool",)
    list_display = ("asked", "tool_link", "service", "state", "origin")
    list_filter = ("service", "method")
    list_select_related = ("tool", "service")
    search_fields = ("path", "tool__name", "tool__description")
    list_per_page = 50
    warn_unsaved_form = True
    fieldsets = (
        (None, {"fields": ("service", "name", "description", "enabled")}),
        ("Request", {"fields": (("method", "path"), "input_schema", "parameters")}),
        ("Sent with every call", {"fields": ("query", "headers", "body", "body_type", "accept")}),
        (
            "Answer",
            {"fields": (*("select", "cache_ttl_seconds", "requires_context_management", "rules"),)},
        ),
        ("What it does", {"fields": ("read_only", "destructive", "idempotent")}),
    )

    @admin.display(description="Operation", ordering="path")
    def asked(self, operation: Any) -> SafeString:
        return unbroken(str(operation))

    @admin.display(description="Tool", ordering="tool__name")
    def tool_link(self, operation: Any) -> SafeString:
        address = reverse("admin:tools_tool_change", args=[operation.tool_id])
        return format_html(LINK, address, operation.tool.name)

    @admin.display(description="State")
    def state(self, operation: Any) -> SafeString:
        if not operation.service.enabled:
            return badge("API is off", "warning")
        return badge("on", "success") if operation.tool.enabled else badge("off", "warning")

    @admin.display(description="From")
    def origin(self, operation: Any) -> str:
        if operation.adapter:
            return "shipped"
        return "OpenAPI" if operation.imported_key else "by hand"
