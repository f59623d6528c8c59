"""What runs now, one by one: the lists that the dashboard's numbers of this moment lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import TemplateView
from typing_extensions import override
from unfold.views import UnfoldModelAdminViewMixin

from health.conf import QUEUES
from tools.admin.pipeline_live import MAY_SEE_CALLS, pipeline_pages, shown_query
from tools.admin.request_log import addresses as log
from tools.admin.request_log.words import named
from tools.admin.texts import moment
from tools.selectors.live import caller_names
from tools.services.pipeline_load import RunningQuery
from tools.services.under_way import Event, UnderWay, under_way

PAGE: Final = "admin:health_healthsnapshot_running"
# Where on the page each list is.
QUERIES: Final = "queries"
WAITING: Final = "waiting"
UNLOGGED: Final = "unlogged"
KINDS: Final = {"open": "began", "close": "ended"}
UNREADABLE: Final = "(not readable)"


class RunningView(UnfoldModelAdminViewMixin, TemplateView):
    """Queries of pipelines, messages of queues, and events that are on their way to the request log."""

    title = "What runs now"
    permission_required = MAY_SEE_CALLS
    template_name = "health/admin/running.html"
    request: HttpRequest

    @override
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "part" in request.GET:
            return render(request, "health/admin/running_now.html", running(request))
        return super().get(request, *args, **kwargs)

    @override
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {
            **context,
            **running(self.request),
            "part": f"{reverse(PAGE)}?part=",
            "calls": log.running(),
        }


def place(name: str) -> str:
    """The address of one of the lists."""
    return f"{reverse(PAGE)}#{name}"


def running(request: HttpRequest) -> dict[str, Any]:
    """The lists; nothing is known without Redis."""
    found = under_way(QUEUES)
    if found is None:
        return {"known": False}
    callers = {one.caller for one in found.queries} | {one.caller for one in found.events}
    names = caller_names(callers)
    return {
        "known": True,
        "found": found,
        "queries": _queries(found.queries, names, request),
        "messages": [
            {"queue": queue.name, "task": one.task or UNREADABLE, "task_id": one.task_id or "-"}
            for queue in found.queues
            for one in queue.oldest
        ],
        "waiting": [queue for queue in found.queues if queue.depth],
        "events": [_event(one, names) for one in found.events],
        "cut": _cut(found),
    }


def _queries(
    queries: Sequence[RunningQuery], names: Mapping[str, str], request: HttpRequest
) -> list[dict[str, Any]]:
    pages = pipeline_pages(request, {one.pipeline for one in queries})
    return [
        {**shown_query(one, names, may_see=True), "page": pages.get(one.pipeline, "")}
        for one in queries
    ]


def _event(one: Event, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "since": moment(one.since, milliseconds=True),
        "call": one.call_id or UNREADABLE,
        "link": log.one(one.call_id) if one.call_id else "",
        "what": KINDS.get(one.kind, "-"),
        "tool": one.tool or "-",
        "caller": named(one.caller, names) or "-",
    }


def _cut(found: UnderWay) -> dict[str, str]:
    """Of which lists only the oldest lines are shown, in words."""
    lists = {
        QUERIES: (len(found.queries), found.query_count),
        UNLOGGED: (len(found.events), found.event_count),
        WAITING: (
            sum(len(queue.oldest) for queue in found.queues),
            sum(queue.depth for queue in found.queues),
        ),
    }
    return {
        name: f"The oldest {shown:,} of {count:,}."
        for name, (shown, count) in lists.items()
        if shown < count
    }
