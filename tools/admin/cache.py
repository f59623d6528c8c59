"""The cache of results in the admin: what it holds, what it saves, and how to empty it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.texts import plural
from tools.models import ApiService
from tools.services.cache_status import (
    MOST_LISTED,
    cache_status,
    purge_all,
    purge_service,
    purge_tools,
)


class CacheView(UnfoldModelAdminViewMixin, TemplateView):
    """The entries of all processes, the newest first. Looking at them does not count as a hit."""

    title = "Cache"
    permission_required = "tools.view_tool"
    template_name = "tools/admin/cache.html"
    request: HttpRequest

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Empty it: for a tool, for an HTTP API, or all of it."""
        if not request.user.has_perm("tools.change_tool"):
            raise PermissionDenied
        service = ApiService.objects.filter(slug=request.POST.get("service", "")).first()
        if tool := request.POST.get("tool"):
            removed, of = purge_tools([tool]), f"of {tool}"
        elif service is not None:
            removed, of = purge_service(service), f"of {service}"
        else:
            removed, of = purge_all(), "of all tools"
        if removed is None:
            messages.error(request, "Redis cannot be reached, and the cache is in it.")
        else:
            messages.success(request, f"{plural(removed, 'result')} {of} forgotten.")
        return redirect("admin:tools_tool_cache")

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        found = cache_status()
        now = timezone.now()
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context.update(
            known=found is not None,
            totals=[_total(name, stats) for name, stats in found.totals.items()] if found else [],
            entries=[_entry(one, now) for one in found.entries] if found else [],
            services=ApiService.objects.values_list("slug", flat=True),
            may_change=self.request.user.has_perm("tools.change_tool"),
            most=MOST_LISTED,
        )
        return context


def _total(source: str, stats: Any) -> dict[str, Any]:
    asked = stats.hits + stats.misses
    rate = f"{100 * stats.hits / asked:.0f} %" if asked else "-"
    return {
        "source": source,
        "entries": stats.entries,
        "hits": stats.hits,
        "asked": asked,
        "rate": rate,
    }


def _entry(one: Any, now: Any) -> dict[str, Any]:
    return {
        "tool": one.tool,
        "arguments": one.key.partition(":")[2].partition("#")[0],
        "age": int((now - one.created_at).total_seconds()),
        "left": max(0, int((one.expires_at - now).total_seconds())),
        "hits": one.hits,
        "bytes": one.bytes,
    }
