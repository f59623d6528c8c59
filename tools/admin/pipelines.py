"""Pipelines in the admin: which technique searches which corpus, with which defaults and limits."""

from __future__ import annotations

import json
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminSelectWidget

from tools.admin import pipeline_live
from tools.admin.compare import ComparedView, CompareView
from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.texts import badge, moment, red, unbroken
from tools.admin.tool_figures import OFF, STATUS_COLOURS
from tools.models import PipelineConfig, Tool
from tools.models.pipelines import TOOL_PREFIX, technique_choices
from tools.services.pipeline_status import PipelineStatus, pipeline_status
from tools.techniques import Technique, input_schema, techniques

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'


class PipelineForm(GuardedForm):
    """A pipeline; its technique is chosen once, and its tool is made when it is saved."""

    pipeline_name = forms.ChoiceField(
        label="Technique", widget=UnfoldAdminSelectWidget, help_text="Cannot be changed later."
    )

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = self.fields.get("pipeline_name")
        if not isinstance(name, forms.ChoiceField):
            return
        chosen = self.instance.pipeline_name
        offered = technique_choices()
        if self.instance.pk:
            name.disabled = True
            name.choices = [pair for pair in offered if pair[0] == chosen] or [(chosen, chosen)]
        else:
            taken = set(PipelineConfig.objects.values_list("pipeline_name", flat=True))
            name.choices = [pair for pair in offered if pair[0] not in taken]

    @override
    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        wanted = f"{TOOL_PREFIX}{cleaned.get('pipeline_name', '')}"
        if not self.instance.pk and Tool.objects.filter(name=wanted).exists():
            self.add_error(
                "pipeline_name", f"Another tool is named {wanted}; rename or delete it first."
            )
        return cleaned


@admin.register(PipelineConfig)
class PipelineConfigAdmin(JsonFieldsMixin, ModelAdmin):
    """The pipelines that agents call as tools."""

    form = PipelineForm
    list_display = ("pipeline_name", "tool_link", "corpus", "status", "limits")
    list_select_related = ("tool", "corpus")
    search_fields = ("pipeline_name", "tool__name", "corpus__slug")
    autocomplete_fields = ("corpus", "web_search_tool")
    readonly_fields = ("status", "problems", "tool_link", "takes", "updated")
    warn_unsaved_form = True
    list_before_template = "tools/admin/pipelines_live.html"
    change_form_outer_before_template = "tools/admin/pipeline_page.html"
    fieldsets = (
        (None, {"fields": ("pipeline_name", "corpus", "tool_link")}),
        ("State", {"fields": ("status", "problems", "updated")}),
        ("Parameters", {"fields": ("default_parameters", "takes", "web_search_tool")}),
        ("Limits", {"fields": ("max_concurrent_queries", "timeout_seconds", "max_tokens")}),
    )

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """What is being added has no state and no tool yet."""
        if obj is not None:
            return self.fieldsets
        return [
            (
                title,
                {
                    "fields": [
                        name for name in options["fields"] if name not in {"tool_link", "takes"}
                    ]
                },
            )
            for title, options in self.fieldsets
            if title != "State"
        ]

    class Media:
        css = {"all": ("tools/admin/pipelines.css",)}
        js = ("tools/admin/follow.js",)

    @override
    def get_urls(self) -> list[URLPattern]:
        compare = CompareView.as_view(model_admin=self)
        compared = ComparedView.as_view(model_admin=self)
        pages = (
            ("compare/", compare, "compare"),
            ("compared/", compared, "compared"),
            ("live/", self.live_view, "live"),
            ("<int:pk>/live/", self.live_one_view, "live_one"),
        )
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            *(
                path(where, self.admin_site.admin_view(view), name=f"tools_pipelineconfig_{name}")
                for where, view, name in pages
            ),
            *super().get_urls(),
        ]

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        shown = pipeline_live.list_part(request) if self.has_view_permission(request) else {}
        return super().changelist_view(request, {**(extra_context or {}), **shown})

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        pipeline = self.get_object(request, object_id)
        seen = pipeline is not None and self.has_view_permission(request, pipeline)
        shown = pipeline_live.page(request, pipeline) if seen else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    def live_view(self, request: HttpRequest) -> HttpResponse:
        """The part of the list that changes by itself."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        shown = pipeline_live.list_part(request)
        return render(request, "tools/admin/pipelines_now.html", shown)

    def live_one_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The part of a pipeline's page that changes by itself."""
        pipeline = self.get_object(request, str(pk))
        if pipeline is None:
            raise Http404
        if not self.has_view_permission(request, pipeline):
            raise PermissionDenied
        shown = pipeline_live.page_part(request, pipeline)
        return render(request, "tools/admin/pipeline_now.html", shown)

    @admin.display(description="Status")
    def status(self, pipeline: Any) -> SafeString:
        word = _status(pipeline).status.value if pipeline.tool.enabled else OFF
        return badge(word, STATUS_COLOURS[word])

    @admin.display(description="Problems")
    def problems(self, pipeline: Any) -> SafeString | str:
        found = _status(pipeline).problems
        return format_html_join("", "{}<br>", ((red(fault),) for fault in found)) or "none"

    @admin.display(description="Tool", ordering="tool__name")
    def tool_link(self, pipeline: Any) -> SafeString:
        address = reverse("admin:tools_tool_change", args=[pipeline.tool_id])
        return format_html(LINK, address, pipeline.tool.name)

    @admin.display(description="Limits")
    def limits(self, pipeline: Any) -> str:
        limits = pipeline.resource_limits
        return unbroken(f"{limits.max_concurrent_queries} at once, {limits.timeout_seconds} s")

    @admin.display(description="Callers may send")
    def takes(self, pipeline: Any) -> SafeString | str:
        technique = techniques.get(pipeline.pipeline_name)
        if technique is None:
            return "not known: no module registers this technique any more"
        return _parameters(technique, pipeline.default_parameters)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, pipeline: Any) -> str:
        return moment(pipeline.updated_at)


def _status(pipeline: Any) -> PipelineStatus:
    """Asked for once: the theme calls what it shows several times."""
    if not hasattr(pipeline, "computed_status"):
        pipeline.computed_status = pipeline_status(pipeline)
    found: PipelineStatus = pipeline.computed_status
    return found


def _parameters(technique: type[Technique], defaults: dict[str, Any]) -> SafeString:
    """Each parameter with its default and bounds, as the tool's schema has them."""
    properties = input_schema(technique, defaults)["properties"]
    rows = (
        (name, _bounds(about), about.get("description", "")) for name, about in properties.items()
    )
    line = '<li style="margin-bottom: 4px"><code>{}</code> {}<br><span>{}</span></li>'
    return format_html("<ul>{}</ul>", format_html_join("", line, rows))


def _bounds(about: dict[str, Any]) -> str:
    """What stands when nothing is sent, and what may be sent: `5, from 1 to 50`."""
    said = [json.dumps(about["default"])] if "default" in about else []
    if "enum" in about:
        said.append(f"one of {', '.join(str(value) for value in about['enum'])}")
    for low, high, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        if low in about and high in about:
            said.append(f"from {about[low]} to {about[high]}{unit}")
    return ", ".join(said)
