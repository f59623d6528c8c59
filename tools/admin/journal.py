"""The request log in the admin: to read, never to change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.views import ChangeList

from tools.admin.criteria import CriteriaView
from tools.admin.json_fields import panel, pretty
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.replay.page import ReplayMixin
from tools.admin.request_log.answers import (
    SEES_ANSWERS,
    UNSEEN,
    AnswersChangeList,
    body,
    call_link,
    kept,
)
from tools.admin.request_log.around import links
from tools.admin.request_log.awaited import await_row
from tools.admin.request_log.export import ExportView
from tools.admin.request_log.life import life
from tools.admin.request_log.listing import PART, RENEW, LogChangeList
from tools.admin.request_log.stepping import KEPT, kept_filters, neighbours
from tools.admin.request_log.words import (
    CACHE_WORDS,
    duration,
    ending,
    shown_caller,
    state_badge,
    status_badge,
)
from tools.admin.texts import moment
from tools.models import ToolRequest, ToolResponse
from tools.selectors.live import caller_names


class LogAdmin(ReadOnlyAdmin):
    """Pages of the journal, which have a look of their own."""

    sortable_by = ()

    class Media:
        css = {"all": ["tools/admin/request_log.css"]}


@admin.register(ToolRequest)
class ToolRequestAdmin(ReplayMixin, LogAdmin):
    """Every call, refusals included."""

    change_list_template = "tools/admin/request_log/list.html"
    list_before_template = "tools/admin/request_log/filters.html"
    change_form_outer_before_template = "tools/admin/request_log/call.html"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "tool_name",
                    "state_badge",
                    "status_badge",
                    "code",
                    "error",
                    "caller_name",
                    "transport",
                    "source",
                )
            },
        ),
        ("Identity", {"fields": ("request_id", "call_id", "correlation_id", "thread_id")}),
        ("Question", {"fields": ("query_text", "arguments", "request_bytes")}),
        (
            "Answer",
            {"fields": ("answer", "response_bytes", "cached", "tokens_before", "tokens_after")},
        ),
        (
            "Times",
            {"fields": ("received", "finished", "deadline", "duration", "stage_times")},
        ),
    )

    @override
    def get_urls(self) -> list[URLPattern]:
        pages: dict[str, type[CriteriaView] | type[ExportView]] = {
            "criteria": CriteriaView,
            "export": ExportView,
        }
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            *(
                path(
                    f"{name}/",
                    self.admin_site.admin_view(view.as_view(model_admin=self)),
                    name=f"tools_toolrequest_{name}",
                )
                for name, view in pages.items()
            ),
            *super().get_urls(),
        ]

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return LogChangeList

    @override
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, str] | None = None
    ) -> HttpResponse:
        page: HttpResponse = super().changelist_view(request, extra_context)
        if PART in request.GET and isinstance(page, TemplateResponse):
            part = "latest" if RENEW in request.GET else "step"
            page.template_name = f"tools/admin/request_log/{part}.html"
        return page

    @override
    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> ToolRequest | None:
        row: ToolRequest | None = super().get_object(request, object_id, from_field)
        if row is not None:
            # Fields are shown without the request.
            vars(row)["_seen"] = request.user.has_perm(SEES_ANSWERS)
        return row

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        row = self.get_object(request, object_id)
        if row is None and self.has_view_permission(request):
            await_row(object_id)
            row = self.get_object(request, object_id)
        shown: dict[str, Any] = {}
        if row is not None:
            shown = {
                "ending": ending(row, caller_names([row.caller])),
                "life": life(row),
                "links": links(row, request.user.has_perm),
                "neighbours": neighbours(row, kept_filters(request.GET.get(KEPT, ""))),
            }
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @admin.display(description="Tool")
    def tool_name(self, row: ToolRequest) -> str:
        # The tool itself may be gone or may never have been.
        return str(row.tool_id)

    @admin.display(description="State")
    def state_badge(self, row: ToolRequest) -> str:
        return state_badge(row)

    @admin.display(description="Status")
    def status_badge(self, row: ToolRequest) -> str:
        return status_badge(row)

    @admin.display(description="Received")
    def received(self, row: ToolRequest) -> str:
        return moment(row.received_at, milliseconds=True)

    @admin.display(description="Finished")
    def finished(self, row: ToolRequest) -> str:
        return moment(row.finished_at, milliseconds=True)

    @admin.display(description="Deadline")
    def deadline(self, row: ToolRequest) -> str:
        return moment(row.deadline_at, milliseconds=True)

    @admin.display(description="Caller")
    def caller_name(self, row: ToolRequest) -> str:
        return shown_caller(row, _once(row, "_names", lambda: caller_names([row.caller])))

    @admin.display(description="Duration")
    def duration(self, row: ToolRequest) -> str:
        return duration(row)

    @admin.display(description="Cache")
    def cached(self, row: ToolRequest) -> str:
        return CACHE_WORDS[row.cache_hit]

    @admin.display(description="Arguments")
    def arguments(self, row: ToolRequest) -> SafeString:
        return panel(pretty(row.parameters))

    @admin.display(description="Milliseconds by stage")
    def stage_times(self, row: ToolRequest) -> SafeString:
        return panel(pretty(row.stages))

    @admin.display(description="Body")
    def answer(self, row: ToolRequest) -> str:
        if not vars(row).get("_seen"):
            return UNSEEN
        response = _once(row, "_response", lambda: ToolResponse.objects.filter(pk=row.pk).first())
        return body(response) if response else "not kept"


@admin.register(ToolResponse)
class ToolResponseAdmin(LogAdmin):
    """The kept answers of calls."""

    change_list_template = "tools/admin/request_log/answers.html"
    fields = ("response_id", "call", "received", "kept", "answer")

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return AnswersChangeList

    @admin.display(description="Received")
    def received(self, row: ToolResponse) -> str:
        return moment(row.received_at)

    @admin.display(description="Kept")
    def kept(self, row: ToolResponse) -> str:
        return kept(row)

    @admin.display(description="Call")
    def call(self, row: ToolResponse) -> SafeString:
        return call_link(row)

    @admin.display(description="Body")
    def answer(self, row: ToolResponse) -> SafeString:
        return body(row)


def _once(row: ToolRequest, name: str, find: Callable[[], Any]) -> Any:
    """What belongs to a row and is looked up; the theme asks for each value several times."""
    kept = vars(row)
    if name not in kept:
        kept[name] = find()
    return kept[name]
