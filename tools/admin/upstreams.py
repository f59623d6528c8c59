"""MCP servers in the admin: how they are reached, how they fare, and a look at them on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET, require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from tools.admin.breakers import BreakersView
from tools.admin.conditions import when
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.switching import SwitchedRows
from tools.admin.upstream_columns import ServerColumns
from tools.admin.upstream_form import UpstreamServerForm
from tools.admin.upstream_page import COUNTS, server_page
from tools.models import UpstreamServer
from tools.models.upstream_rules import address_warning
from tools.services.ask_upstream import AskFault, Purpose, ask
from tools.services.save_upstream import save_upstream
from tools.services.upstream_status import RedisDown, upstream_status
from tools.upstreams import UpstreamTransport

# What only programs on this machine have, and what only servers behind an address have.
LOCAL: Final = (
    *("command", "memory_mb"),
    *("environment_kept", "new_environment", "forget_environment"),
)
REMOTE: Final = ("url", "allowed_networks", "headers_kept", "new_headers", "forget_headers")


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
class UpstreamServerAdmin(ServerColumns, SwitchedRows, JsonFieldsMixin, ModelAdmin):
    """The MCP servers whose tools, prompts and resources are offered here."""

    form = UpstreamServerForm
    list_display = (
        *("named", "reached", "state", "tools_held", "breaker"),
        *("problem", "discovered"),
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
    fieldsets = (
        (None, {"fields": ("slug", "display_name", "description", "prefix", "enabled")}),
        (
            "How it is reached",
            {"fields": ("transport", "command", "memory_mb", "url", "allowed_networks", "era")},
        ),
        (
            "Secrets",
            {
                "fields": (
                    *("headers_kept", "new_headers", "forget_headers"),
                    *("environment_kept", "new_environment", "forget_environment"),
                )
            },
        ),
        (
            "Times",
            {
                "fields": (
                    *("connect_timeout", "call_timeout", "retries"),
                    *("connect_at_start", "idle_seconds"),
                )
            },
        ),
        (
            "When it fails",
            {"fields": ("failure_threshold", "recovery_timeout", "unavailable_message")},
        ),
        ("What it newly offers", {"fields": ("new_items",)}),
        ("Saved", {"fields": ("created", "updated")}),
    )

    class Media:
        js = ("tools/admin/follow.js", "tools/admin/confirm.js")

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[UpstreamServer]:
        rows: QuerySet[UpstreamServer] = super().get_queryset(request)
        return rows.annotate(**COUNTS)

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ServerChangeList]:
        return ServerChangeList

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A server that is being added was never saved, and has no secrets yet."""
        if obj is None:
            return _without(
                self.fieldsets, lambda name: name.endswith(("_kept", "created", "updated"))
            )
        if self.has_change_permission(request, obj):
            return self.fieldsets
        other = REMOTE if obj.transport == UpstreamTransport.STDIO else LOCAL
        return _without(
            self.fieldsets,
            lambda name: name in other or name.startswith(("new_h", "new_e", "forget_")),
        )

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Breakers and tools are known by the name, tools are named with the prefix."""
        if obj is None:
            return self.readonly_fields
        prefix = ("prefix",) if obj.items.exists() else ()
        return (*self.readonly_fields, "slug", *prefix)

    @override
    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        pages = (
            ("test", require_POST(self._test)),
            ("refresh", require_POST(self._refresh)),
            ("status", require_GET(self._status)),
        )
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path(
                "breakers/",
                wrap(BreakersView.as_view(model_admin=self)),
                name="tools_upstreamserver_breakers",
            ),
            *(
                path(f"<int:pk>/{name}/", wrap(view), name=f"tools_upstreamserver_{name}")
                for name, view in pages
            ),
            *super().get_urls(),
        ]

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        server = self.get_object(request, object_id)
        shown = {} if server is None else self._page(request, server)
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

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

    @admin.action(description="Refresh tools of selected servers", permissions=["change"])
    def refresh_selected(self, request: HttpRequest, queryset: QuerySet[UpstreamServer]) -> None:
        """Each server's page shows what comes of it."""
        for server in queryset:
            self._ask(request, server, Purpose.REFRESH)

    def _test(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._begin(request, pk, Purpose.TEST)

    def _refresh(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._begin(request, pk, Purpose.REFRESH)

    def _begin(self, request: HttpRequest, pk: int, purpose: Purpose) -> HttpResponse:
        server = self._found(request, pk)
        if not self.has_change_permission(request, server):
            raise PermissionDenied
        self._ask(request, server, purpose)
        return redirect("admin:tools_upstreamserver_change", pk)

    def _ask(self, request: HttpRequest, server: UpstreamServer, purpose: Purpose) -> None:
        try:
            ask(server, purpose, request.user.get_username())
        except AskFault as fault:
            self.message_user(request, f"{server}: {fault}", messages.ERROR)
        else:
            word = "Connection test" if purpose is Purpose.TEST else "Refresh of tools"
            self.log_change(request, server, f"{word} begun.")
            self.message_user(request, f"{server}: {word.lower()} begun.", messages.INFO)

    def _status(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The part of the page that changes while a worker looks."""
        server = self._found(request, pk)
        if not self.has_view_permission(request, server):
            raise PermissionDenied
        return render(request, "tools/admin/upstream_status.html", self._page(request, server))

    def _found(self, request: HttpRequest, pk: int) -> UpstreamServer:
        server: UpstreamServer | None = self.get_object(request, str(pk))
        if server is None:
            raise Http404
        return server

    def _page(self, request: HttpRequest, server: UpstreamServer) -> dict[str, Any]:
        return server_page(server, may_change=self.has_change_permission(request, server))


def _without(fieldsets: Any, left_out: Callable[[str], bool]) -> list[tuple[str | None, Any]]:
    """The fieldsets without some fields, and without those that have none then."""
    kept = [
        (title, [name for name in options["fields"] if not left_out(name)])
        for title, options in fieldsets
    ]
    return [(title, {"fields": names}) for title, names in kept if names]
