"""The request log in the admin: to read, never to change."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.options import ShowFacets
from django.contrib.admin.views.main import ORDER_VAR
from django.db.models import CharField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Concat, Length
from django.http import HttpRequest
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from tools.admin.criteria import CriteriaView
from tools.admin.json_fields import panel, pretty
from tools.admin.paginator import CappedPaginator
from tools.admin.texts import badge, moment, unbroken
from tools.contracts import ToolSource
from tools.models import ApiClient, Tool, ToolRequest, ToolResponse

STATE_COLOURS = {"completed": "success", "failed": "danger", "executing": "info"}
STATUS_COLOURS = {"success": "success", "failure": "danger", "timeout": "warning"}
MOST_MATCHES = 100


class JournalChangeList(ChangeList):
    """Latest first, always: any other order would sort the whole table.

    A list that is not filtered says nothing of results; the number of all rows is not known.
    """

    @override
    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        self.params.pop(ORDER_VAR, None)
        return super().get_ordering(request, queryset)

    @override
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count


class ReadOnlyAdmin(ModelAdmin):
    """Rows the journal writes; nobody adds, changes or deletes them here."""

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_per_page = 50
    list_fullwidth = True
    actions = None

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[JournalChangeList]:
        return JournalChangeList

    @override
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SourceFilter(admin.SimpleListFilter):
    """By source, from the known ones: asking the table for them would read all of it."""

    title = "source"
    parameter_name = "source"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(source.value, source.value) for source in ToolSource]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(source=self.value()) if self.value() else queryset


@admin.register(ToolRequest)
class ToolRequestAdmin(ReadOnlyAdmin):
    """Every call, refusals included."""

    list_display = (
        "arrived",
        "tool_name",
        "state_badge",
        "status_badge",
        "code",
        "duration",
        "caller_name",
        "transport",
    )
    list_display_links = ("arrived", "tool_name")
    list_filter = ("state", "status", "code", "transport", SourceFilter, "cache_hit", "received_at")
    search_fields = ("request_id", "tool", "caller", "correlation_id")
    search_help_text = "Request id, tool, caller, correlation id or thread id; ids must be whole."
    sortable_by = ()
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
            {"fields": ("answer", "response_bytes", "cache_hit", "tokens_before", "tokens_after")},
        ),
        (
            "Times",
            {"fields": ("received", "finished", "deadline", "duration", "stage_times")},
        ),
    )

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(CriteriaView.as_view(model_admin=self))
        # Before the others: the last of them takes whatever it is given for a row.
        return [path("criteria/", view, name="tools_toolrequest_criteria"), *super().get_urls()]

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolRequest]:
        """With the name of the API client, whose number is all that the journal holds."""
        clients = ApiClient.objects.annotate(
            reference=Concat(Value("client:"), Cast("pk", CharField()), output_field=CharField())
        ).filter(reference=OuterRef("caller"))
        rows: QuerySet[ToolRequest] = super().get_queryset(request)
        return rows.annotate(client_name=Subquery(clients.values("name")[:1])).defer(
            "parameters", "query_text", "stages"
        )

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ToolRequest], search_term: str
    ) -> tuple[QuerySet[ToolRequest], bool]:
        """Whole ids and names, so that indexes find them among millions of rows."""
        term = search_term.strip()
        if not term:
            return queryset, False
        try:
            identifier = UUID(term)
        except ValueError:
            return queryset.filter(_matching(term)), False
        return queryset.filter(Q(request_id=identifier) | Q(call_id=identifier) | _ids(term)), False

    @admin.display(description="Tool")
    def tool_name(self, row: ToolRequest) -> str:
        # The tool itself may be gone or may never have been.
        return str(row.tool_id)

    @admin.display(description="State")
    def state_badge(self, row: ToolRequest) -> str:
        return badge(row.state, STATE_COLOURS.get(row.state, ""))

    @admin.display(description="Status")
    def status_badge(self, row: ToolRequest) -> str:
        return badge(row.status, STATUS_COLOURS.get(row.status, "")) if row.status else "-"

    @admin.display(description="Received")
    def arrived(self, row: ToolRequest) -> str:
        return moment(row.received_at)

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
        name = getattr(row, "client_name", None)
        return f"{name} ({row.caller})" if name else row.caller

    @admin.display(description="Duration")
    def duration(self, row: ToolRequest) -> str:
        return "-" if row.duration_ms is None else unbroken(f"{row.duration_ms:,.1f} ms")

    @admin.display(description="Arguments")
    def arguments(self, row: ToolRequest) -> SafeString:
        return panel(pretty(row.parameters))

    @admin.display(description="Milliseconds by stage")
    def stage_times(self, row: ToolRequest) -> SafeString:
        return panel(pretty(row.stages))

    @admin.display(description="Body")
    def answer(self, row: ToolRequest) -> str:
        response = ToolResponse.objects.filter(pk=row.pk).first()
        return _body(response) if response else "not kept"


@admin.register(ToolResponse)
class ToolResponseAdmin(ReadOnlyAdmin):
    """The kept answers of calls."""

    list_display = ("received", "response_id", "kept", "size")
    list_filter = ("truncated", "received_at")
    search_fields = ("response_id",)
    search_help_text = "Response id (equal to the request id)."
    sortable_by = ()
    ordering = ("-received_at",)
    fields = ("response_id", "call", "received", "kept", "answer")

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolResponse]:
        """Without the bodies, which are read one at a time."""
        rows: QuerySet[ToolResponse] = super().get_queryset(request)
        return rows.annotate(characters=Length("body")).defer("body")

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ToolResponse], search_term: str
    ) -> tuple[QuerySet[ToolResponse], bool]:
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(response_id=UUID(search_term.strip())), False
        except ValueError:
            return queryset.none(), False

    @admin.display(description="Received")
    def received(self, row: ToolResponse) -> str:
        return moment(row.received_at)

    @admin.display(description="Kept")
    def kept(self, row: ToolResponse) -> str:
        return "the beginning" if row.truncated else "whole"

    @admin.display(description="Characters kept")
    def size(self, row: ToolResponse) -> str:
        return f"{getattr(row, 'characters', 0):,}"

    @admin.display(description="Call")
    def call(self, row: ToolResponse) -> SafeString:
        address = reverse("admin:tools_toolrequest_change", args=[row.pk])
        return format_html('<a class="text-primary-600" href="{}">{}</a>', address, row.pk)

    @admin.display(description="Body")
    def answer(self, row: ToolResponse) -> SafeString:
        return _body(row)


def _matching(term: str) -> Q:
    """Calls of tools named like `term`, of a caller, or with that correlation or thread id."""
    tools = Tool.objects.filter(name__icontains=term).values_list("name", flat=True)[:MOST_MATCHES]
    clients = ApiClient.objects.filter(name__icontains=term).values_list("pk", flat=True)
    callers = [f"client:{pk}" for pk in clients[:MOST_MATCHES]]
    callers += [term, *(f"{kind}:{term}" for kind in ("address", "admin", "local"))]
    return Q(tool_id__in=[*tools, term]) | Q(caller__in=callers) | _ids(term)


def _ids(term: str) -> Q:
    return Q(correlation_id=term) | Q(thread_id=term)


def _body(response: ToolResponse) -> SafeString:
    """The kept body, indented when it is whole."""
    try:
        text = pretty(json.loads(response.body))
    except ValueError:
        text = response.body
    if response.truncated:
        text += "\n… the rest was not kept"
    return panel(text)
