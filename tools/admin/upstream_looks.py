"""Looks at MCP servers from their pages: a worker takes them, the page waits for what comes of it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_GET, require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.breakers import BreakersView
from tools.admin.upstream_log import log_page
from tools.admin.upstream_page import server_page
from tools.models import UpstreamServer
from tools.services.ask_upstream import AskFault, Purpose, ask


class LookPages(ModelAdmin):
    """For the ModelAdmin of MCP servers: the part above the form, and its buttons."""

    @override
    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        pages = (
            ("test", require_POST(self._test)),
            ("refresh", require_POST(self._refresh)),
            ("status", require_GET(self._status)),
            ("log", require_GET(self._log)),
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
        shown = {} if server is None else {**self._page(request, server), **log_page(server)}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

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

    def _log(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The part of the page that follows what the server's program writes."""
        server = self._found(request, pk)
        if not self.has_view_permission(request, server):
            raise PermissionDenied
        return render(request, "tools/admin/upstream_log.html", log_page(server))

    def _found(self, request: HttpRequest, pk: int) -> UpstreamServer:
        server: UpstreamServer | None = self.get_object(request, str(pk))
        if server is None:
            raise Http404
        return server

    def _page(self, request: HttpRequest, server: UpstreamServer) -> dict[str, Any]:
        return server_page(server, may_change=self.has_change_permission(request, server))
