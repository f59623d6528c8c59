"""Tools and toolsets in the admin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.decorators import action

from tools.admin import tool_calls
from tools.admin.cache import CacheView
from tools.admin.checkboxes import row_checkbox
from tools.admin.conditions import when
from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.offer_links import OFFER, UNREAD, offer_link
from tools.admin.once import once_a_row
from tools.admin.schema_table import shown_table
from tools.admin.switch_column import SwitchColumn
from tools.admin.switching import SwitchedRows
from tools.admin.texts import badge
from tools.admin.tool_clone import clone_page, values_to_clone
from tools.admin.tool_exchange import ToolExchange
from tools.admin.tool_figures import (
    MAY_SEE_CALLS,
    OFF,
    STATUS_COLOURS,
    add_figures,
    add_statuses,
    calls_link,
    failures,
    p95,
    status_of,
)
from tools.admin.tool_owners import (
    OWNERS,
    operation_link,
    owned_fields,
    owner_row,
    pipeline_link,
)
from tools.admin.tool_triage import CALLS, FAILED, P95, StatusFilter, ToolChangeList
from tools.admin.tool_versions import VersionedTools
from tools.admin.try_it.urls import MAY_TRY, try_it_urls
from tools.models import ApiClient, Tool, Toolset
from tools.models.tool_rules import ELSEWHERE
from tools.services.check_schema import SCHEMAS
from tools.services.tool_exchange import owner_of
from tools.services.tool_status import (
    argument_faults,
    handler_faults,
    index_faults,
    switched_off,
    tool_faults,
    tool_status,
)

CALLED = "How it is called"
OF_CALLS = (CALLS, FAILED, P95)


def _without_tables(fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in fields if name not in {"arguments", "result"})


class ToolForm(GuardedForm):
    """A tool's definition; a built-in must name a function that exists."""

    @override
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or self.cleaned_data
        faults = handler_faults(cleaned.get("source", ""), cleaned.get("handler", ""))
        if faults and "handler" in cleaned:
            self.add_error(
                "handler", ValidationError([fault.split(": ", 1)[1] for fault in faults])
            )
        instead = ELSEWHERE.get(cleaned.get("source", ""))
        if instead and not owner_of(self.instance):
            self.add_error("source", instead)
        for fault in argument_faults(self.instance, cleaned.get("input_schema")):
            self.add_error("input_schema", fault)
        return cleaned


@admin.register(Tool)
class ToolAdmin(ToolExchange, SwitchColumn, SwitchedRows, JsonFieldsMixin, VersionedTools):
    """What agents can call."""

    what_comes_here = (
        "What agents can call: pipelines, operations of HTTP APIs, tools of MCP servers, and "
        "those built in."
    )
    form = ToolForm
    list_display = (
        *("name", "source", "status_now", "enabled"),
        *OF_CALLS,
    )
    list_fullwidth = True
    list_filter = (
        *("enabled", "source", "read_only", "requires_context_management", "long_running"),
        # The last: it looks at each of the tools that the others left.
        StatusFilter,
    )
    list_filter_submit = False
    search_fields = ("name", "title", "description")
    list_per_page = 50
    actions = ("enable", "disable", "export_selected")
    actions_list = ("export_all", "import_tools")
    actions_detail = ("try_it", "clone", "versions")
    readonly_fields = (
        *("status", "problems", "recent", "examples", "arguments", "result", "created", "updated"),
    )
    schema_rules: ClassVar = {one: one for one in SCHEMAS}
    warn_unsaved_form = True

    class Media:
        css: ClassVar = {"all": ("tools/admin/schemas.css", "tools/admin/switch.css")}
        js = ("tools/admin/copy.js", "tools/admin/switch.js")

    fieldsets = (
        (None, {"fields": ("name", "title", "description", "enabled")}),
        ("State", {"fields": ("status", "problems", "recent")}),
        (CALLED, {"fields": ("examples",)}),
        (
            "Arguments and result",
            {"fields": ("arguments", "input_schema", "result", "output_schema")},
        ),
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
                    "long_running",
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
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(CacheView.as_view(model_admin=self))
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path("cache/", view, name="tools_tool_cache"),
            *try_it_urls(self),
            *super().get_urls(),
        ]

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A tool that is being added has no state yet."""
        if obj is None:
            shown = [one for one in self.fieldsets if one[0] not in {"State", CALLED}]
            return [(title, {"fields": _without_tables(one["fields"])}) for title, one in shown]
        owner = owner_row(obj)
        # Calls are in the log, and so are who made them.
        hidden = "" if request.user.has_perm(MAY_SEE_CALLS) else "recent"
        first, state, *rest = self.fieldsets
        told = [name for name in (owner, *state[1]["fields"]) if name and name != hidden]
        return [first, ("State", {"fields": tuple(told)}), *rest]

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("created", "updated")
        return (*self.readonly_fields, *OWNERS, *owned_fields(obj))

    @override
    def get_list_display(self, request: HttpRequest) -> Any:
        shown = super().get_list_display(request)
        if request.user.has_perm(MAY_SEE_CALLS):
            return shown
        return tuple(name for name in shown if name not in OF_CALLS)

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related(OFFER).defer(*UNREAD)

    @override
    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """With the address under which the person reaches the service, for the examples."""
        found = super().get_object(request, object_id, from_field)
        if found is not None:
            found.base_url = f"{request.scheme}://{request.get_host()}"
        return found

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ToolChangeList]:
        return ToolChangeList

    @override
    def get_changelist_instance(self, request: HttpRequest) -> Any:
        shown = super().get_changelist_instance(request)
        shown.result_list = list(shown.result_list)
        add_figures(shown.result_list)
        add_statuses(shown.result_list)
        return shown

    @admin.display(description=ModelAdmin.action_checkbox.short_description)
    def action_checkbox(self, tool: Tool) -> SafeString:
        return row_checkbox(tool.pk)

    @admin.display(description="Status")
    def status_now(self, tool: Any) -> SafeString:
        return status_of(tool)

    @override
    def cells_of(self, row: Any) -> dict[str, str]:
        add_statuses([row])
        return {"status_now": status_of(row)}

    @admin.display(description="Calls, 24 h", ordering=CALLS)
    def calls_of_a_day(self, tool: Tool) -> SafeString | str:
        return calls_link(tool)

    @admin.display(description="Failed, 24 h", ordering=FAILED)
    def failed_of_a_day(self, tool: Tool) -> SafeString | str:
        return failures(tool)

    @admin.display(description="p95, 24 h", ordering=P95)
    def p95_of_a_day(self, tool: Tool) -> str:
        return p95(tool)

    @override
    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        given: dict[str, Any] = super().get_changeform_initial_data(request)
        copied = values_to_clone(given.pop("clone", ""))
        return {"input_schema": {"type": "object", "properties": {}}, **copied, **given}

    def has_try_it_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm(MAY_TRY)

    @action(description="Try it", permissions=["try_it"])  # type: ignore[untyped-decorator]
    def try_it(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form with which a person calls it."""
        return redirect("admin:tools_tool_try", object_id)

    def has_clone_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool(self.has_add_permission(request))

    @action(description="Clone", permissions=["clone"])  # type: ignore[untyped-decorator]
    def clone(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A new tool that begins with what this one has."""
        tool = self.get_object(request, object_id)
        if tool is None:
            raise Http404
        return clone_page(self, request, tool)

    @override
    def faults_of(self, row: Any) -> list[str]:
        # In a list they were asked for once, for all of its rows.
        listed: list[str] | None = getattr(row, "listed_faults", None)
        return [*index_faults(row), *tool_faults(row)] if listed is None else listed

    @admin.display(description="Status")
    @once_a_row
    def status(self, tool: Tool) -> SafeString:
        word = OFF if switched_off([tool]) else tool_status(tool).value
        return badge(word, STATUS_COLOURS[word])

    @admin.display(description="Pipeline")
    def pipeline(self, tool: Tool) -> SafeString:
        """What manages this tool."""
        return pipeline_link(tool)

    @admin.display(description="Operation")
    def operation(self, tool: Tool) -> SafeString:
        """What it asks of an HTTP API, and where that is changed."""
        return operation_link(tool)

    @admin.display(description="MCP server")
    def offer(self, tool: Tool) -> SafeString:
        """Where this tool comes from, and where its definition is decided on."""
        return offer_link(tool)

    @admin.display(description="Latest calls")
    @once_a_row
    def recent(self, tool: Tool) -> SafeString:
        return tool_calls.recent(tool)

    @admin.display(description="Arguments")
    def arguments(self, tool: Tool) -> SafeString:
        return shown_table(tool.input_schema)

    @admin.display(description="Result")
    def result(self, tool: Tool) -> SafeString:
        nothing = "Nothing is said about its parts." if tool.output_schema else "No fixed shape."
        return shown_table(tool.output_schema, nothing=nothing)

    @admin.display(description="To paste")
    @once_a_row
    def examples(self, tool: Any) -> SafeString:
        return tool_calls.examples(tool, tool.base_url)


@admin.register(Toolset)
class ToolsetAdmin(ModelAdmin):
    """Groups of tools, prompts and resources, granted to API clients."""

    form = GuardedForm
    list_display = ("slug", "description", "includes_all", "search_only", "size", "granted_to")
    list_filter = ("includes_all", "search_only")
    list_filter_submit = False
    search_fields = ("slug", "title", "description", "oauth_scope")
    autocomplete_fields = ("tools", "prompts", "resources")
    fieldsets = (
        (None, {"fields": ("slug", "title", "description")}),
        ("What it holds", {"fields": ("includes_all", "tools", "prompts", "resources")}),
        ("How it is used", {"fields": ("search_only", "oauth_scope")}),
    )
    conditional_fields = dict.fromkeys(
        ("tools", "prompts", "resources"), when("includes_all", "== false")
    )

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        # A toolset may hold hundreds of tools, and a client's row has what its key is known by.
        clients = Prefetch("clients", ApiClient.objects.only("name"))
        rows = super().get_queryset(request).prefetch_related(clients)
        return rows.annotate(tool_count=Count("tools"))

    @admin.display(description="Tools")
    def size(self, toolset: Any) -> str:
        return "all" if toolset.includes_all else f"{toolset.tool_count}"

    @admin.display(description="Granted to")
    def granted_to(self, toolset: Toolset) -> str:
        return ", ".join(client.name for client in toolset.clients.all()) or "-"
