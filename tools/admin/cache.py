"""The cache of results in the admin: what it holds, what it saves, and how to empty it."""

from __future__ import annotations

import json
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from tools.admin.texts import plural
from tools.admin.tool_figures import MAY_SEE_CALLS
from tools.admin.try_it.styles import CLASSES
from tools.models import ApiService, Tool
from tools.services.cache_status import (
    MOST_LISTED,
    arguments_of,
    cache_status,
    purge_all,
    purge_service,
    purge_tools,
)

LONGEST_NAME: Final = 200
NO_REDIS: Final = "Redis cannot be reached, and the cache is in it."
NOTHING_NAMED: Final = "Nothing was forgotten: press one of the buttons to say what of."
UNKNOWN: Final = (
    "Nothing was forgotten: there is no {} named {!r} any more. Choose again from what is here now."
)


class Unnamed(Exception):
    """Nothing that could be emptied was named; the message says what to do."""


class CacheView(UnfoldModelAdminViewMixin, TemplateView):
    """The entries of all processes, the newest first. Looking at them does not count as a hit.

    Arguments are shown as the request log has them, to whoever may see the log.
    """

    title = "Cache"
    permission_required = "tools.view_tool"
    template_name = "tools/admin/cache.html"
    request: HttpRequest

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Empty it: for a tool, for an HTTP API, or all of it if that is said."""
        if not request.user.has_perm("tools.change_tool"):
            raise PermissionDenied
        try:
            removed, of = _purge(request.POST)
        except Unnamed as fault:
            messages.error(request, str(fault))
            return redirect("admin:tools_tool_cache")
        if removed is None:
            messages.error(request, NO_REDIS)
        else:
            messages.success(request, f"{plural(removed, 'result')} {of} forgotten.")
        return redirect("admin:tools_tool_cache")

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        # No tool has a longer name, and none what Redis and templates could stumble over.
        tool = self.request.GET.get("tool", "").strip()[:LONGEST_NAME]
        found = cache_status(MOST_LISTED, tool)
        now, seen = timezone.now(), self.request.user.has_perm(MAY_SEE_CALLS)
        context: dict[str, Any] = super().get_context_data(**kwargs)
        context.update(
            known=found is not None,
            totals=[_total(name, stats) for name, stats in found.totals.items()] if found else [],
            entries=[_entry(one, now, seen=seen) for one in found.entries] if found else [],
            arguments_seen=seen,
            services=ApiService.objects.values_list("slug", flat=True),
            may_change=self.request.user.has_perm("tools.change_tool"),
            most=MOST_LISTED,
            asked=tool,
            classes=CLASSES,
        )
        return context


def _purge(sent: QueryDict) -> tuple[int | None, str]:
    """Forget what the button names: how many results there were, and of what.

    Raises:
        Unnamed: it names nothing, or what is not there any more; everything is still cached.
    """
    if tool := sent.get("tool"):
        if not _is_known(tool):
            raise Unnamed(UNKNOWN.format("tool", tool))
        return purge_tools([tool]), f"of {tool}"
    if slug := sent.get("service"):
        service = ApiService.objects.filter(slug=slug).first()
        if service is None:
            raise Unnamed(UNKNOWN.format("HTTP API", slug))
        return purge_service(service), f"of {service}"
    if sent.get("all") == "1":
        return purge_all(), "of all tools"
    raise Unnamed(NOTHING_NAMED)


def _is_known(tool: str) -> bool:
    """Whether there is such a tool, or was one whose results are still there."""
    if Tool.objects.filter(name=tool).exists():
        return True
    found = cache_status(1, tool)
    return found is None or bool(found.entries)


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


def _entry(one: Any, now: Any, *, seen: bool) -> dict[str, Any]:
    return {
        "tool": one.tool,
        "arguments": _arguments(one) if seen else "",
        "age": int((now - one.created_at).total_seconds()),
        "left": max(0, int((one.expires_at - now).total_seconds())),
        "hits": one.hits,
        "bytes": one.bytes,
    }


def _arguments(one: Any) -> str:
    return json.dumps(arguments_of(one), ensure_ascii=False)
