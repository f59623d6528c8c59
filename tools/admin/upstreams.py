"""MCP servers in the admin: how they are reached, how they fare, and a look at them on demand."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from typing_extensions import override
from unfold.views import ChangeList

from tools.admin.conditions import when
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.switch_column import SwitchColumn
from tools.admin.switching import SwitchedRows
from tools.admin.upstream_columns import ServerColumns
from tools.admin.upstream_fieldsets import (
    FIELDSETS,
    LOCAL,
    REMOTE,
    fields_to_add,
    fields_to_read,
)
from tools.admin.upstream_form import UpstreamServerForm
from tools.admin.upstream_looks import LookPages
from tools.admin.upstream_secrets import KeptSecrets
from tools.admin.upstream_words import COUNTS
from tools.models import UpstreamServer
from tools.models.upstream_rules import address_warning
from tools.services.save_upstream import save_upstream
from tools.services.upstream_status import RedisDown, upstream_status


class ServerChangeList(ChangeList):
    """With how each server fares; all of them are asked about at once."""

    result_list: Any

    @override
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        try:
            found = upstream_status(rows)
        except RedisDown:
            found = {}
        for row in rows:
            row.status = found.get(row.pk)
        self.result_list = rows


@admin.register(UpstreamServer)
class UpstreamServerAdmin(
    ServerColumns, KeptSecrets, SwitchColumn, SwitchedRows, JsonFieldsMixin, LookPages
):
    """The MCP servers whose tools, prompts and resources are offered here."""

    what_comes_here = "Another MCP server whose tools are offered here once you have approved them."
    form = UpstreamServerForm
    list_display = (
        *("named", "reached", "state", "tools_held", "breaker"),
        *("problem", "discovered", "enabled"),
    )
    list_display_links = ("named",)
    list_filter = ("enabled", "transport")
    list_filter_submit = False
    search_fields = ("slug", "display_name", "description", "url", "command")
    list_per_page = 50
    actions = ("enable", "disable", "refresh_selected")
    warn_unsaved_form = True
    change_form_outer_before_template = "tools/admin/upstream_server.html"
    readonly_fields = ("headers_kept", "environment_kept", "created", "updated")
    conditional_fields = {
        **dict.fromkeys(LOCAL, when("transport", "== 'stdio'")),
        **dict.fromkeys(REMOTE, when("transport", "!= 'stdio'")),
    }
    fieldsets = FIELDSETS

    class Media:
        css: ClassVar = {"all": ("tools/admin/switch.css",)}
        js = (
            *("tools/admin/follow.js", "tools/admin/tail.js"),
            *("tools/admin/confirm.js", "tools/admin/switch.js"),
        )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[UpstreamServer]:
        rows: QuerySet[UpstreamServer] = super().get_queryset(request)
        return rows.annotate(**COUNTS)

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ServerChangeList]:
        return ServerChangeList

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return fields_to_add()
        may_change = self.has_change_permission(request, obj)
        return FIELDSETS if may_change else fields_to_read(obj.transport)

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Breakers and tools are known by the name, tools are named with the prefix."""
        if obj is None:
            return self.readonly_fields
        prefix = ("prefix",) if obj.items.exists() else ()
        return (*self.readonly_fields, "slug", *prefix)

    @override
    def save_model(
        self, request: HttpRequest, obj: UpstreamServer, form: Any, change: bool
    ) -> None:
        save_upstream(obj)
        if warning := address_warning(obj.transport, obj.url):
            self.message_user(request, f"Saved all the same: {warning}", messages.WARNING)

    @override
    def response_post_save_add(self, request: HttpRequest, obj: UpstreamServer) -> HttpResponse:
        """Right on to where it can be tried."""
        return redirect("admin:tools_upstreamserver_change", obj.pk)
