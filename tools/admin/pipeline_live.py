"""What pipelines are at now, on their list and on the page of each; and what else is known of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode

from tools.admin import tool_calls
from tools.admin.request_log import addresses
from tools.admin.request_log.words import named
from tools.admin.texts import linked, moment
from tools.admin.tool_figures import STATUS_COLOURS
from tools.models import PipelineConfig
from tools.selectors.figures import Chosen, aligned, call_figures
from tools.selectors.live import caller_names
from tools.services.canaries import CanaryResult, canaries
from tools.services.pipeline_load import PipelineLoad, RunningQuery, pipeline_loads

MAY_SEE_CALLS: Final = "tools.view_toolrequest"
MAY_CHANGE: Final = "tools.change_pipelineconfig"
HOURS: Final = 24
MOST_PIPELINES: Final = 100


def list_part(request: HttpRequest) -> dict[str, Any]:
    """Every pipeline with what runs and what waits."""
    rows = PipelineConfig.objects.select_related("tool").order_by("pipeline_name")[:MOST_PIPELINES]
    pipelines = list(rows)
    loads = pipeline_loads(pipelines) if pipelines else {}
    tested = canaries.latest() if pipelines else {}
    return {
        "live_part": reverse("admin:tools_pipelineconfig_live"),
        "known": loads is not None,
        "pipelines": [
            {
                "one": one,
                "load": None if loads is None else loads[one.pipeline_name],
                "unfinished": _unfinished(request, one),
                "stages": _stages(None if loads is None else loads[one.pipeline_name]),
                "test": _test(tested.get(one.tool.name)),
            }
            for one in pipelines
        ],
    }


def page_part(request: HttpRequest, pipeline: PipelineConfig) -> dict[str, Any]:
    """The same of one pipeline, query by query."""
    loads = pipeline_loads([pipeline])
    load = None if loads is None else loads[pipeline.pipeline_name]
    queries = () if load is None else load.queries
    # Who asks is in the log.
    may_see = request.user.has_perm(MAY_SEE_CALLS)
    names = caller_names({one.caller for one in queries}) if may_see else {}
    return {
        "pipeline": pipeline,
        "live_part": reverse("admin:tools_pipelineconfig_live_one", args=[pipeline.pk]),
        "load": load,
        "figures": () if load is None else _figures(pipeline, load, _unfinished(request, pipeline)),
        "queries": [shown_query(one, names, may_see=may_see) for one in queries],
    }


def page(request: HttpRequest, pipeline: PipelineConfig) -> dict[str, Any]:
    """All that the page shows beside the form."""
    shown = page_part(request, pipeline)
    shown["test"] = _test(canaries.latest().get(pipeline.tool.name))
    shown["may_ask"] = request.user.has_perm(MAY_CHANGE)
    if request.user.has_perm(MAY_SEE_CALLS):
        shown["day"] = _day(pipeline)
        shown["recent"] = tool_calls.recent(pipeline.tool)
    return shown


def _stages(load: PipelineLoad | None) -> str:
    return ", ".join(one.stage for one in load.queries if one.stage) if load else ""


def _unfinished(request: HttpRequest, pipeline: PipelineConfig) -> str:
    """Where the calls are that run and wait, for who may see the log."""
    may_see = request.user.has_perm(MAY_SEE_CALLS)
    return addresses.unfinished(pipeline.tool.name) if may_see else ""


def _figures(
    pipeline: PipelineConfig, load: PipelineLoad, unfinished: str
) -> tuple[tuple[str, str], ...]:
    return (
        ("Running", f"{len(load.queries)}"),
        ("Slots taken", f"{load.slots} of {pipeline.max_concurrent_queries}"),
        ("Wait for a slot", _waiting(load.held_back, unfinished)),
        ("Wait for a worker", _waiting(load.waiting, unfinished)),
        ("Worker processes", f"{load.workers}"),
    )


def _waiting(count: int, unfinished: str) -> str:
    """How many wait, with the way to them if there are any."""
    return (
        format_html('<a href="{}">{}</a>', unfinished, count)
        if count and unfinished
        else f"{count}"
    )


def shown_query(one: RunningQuery, names: Mapping[str, str], *, may_see: bool) -> dict[str, Any]:
    """A line of a list; who asks, and the way to the call, for who may see the log."""
    log = reverse("admin:tools_toolrequest_changelist")
    seconds = max(0.0, (datetime.now(UTC) - one.since).total_seconds())
    return {
        "one": one,
        "caller": named(one.caller, names) if may_see else "",
        "since": f"{timezone.localtime(one.since):%H:%M:%S}",
        "age": f"{seconds:.0f} s",
        "link": f"{log}?{urlencode({'q': one.request_id})}" if one.request_id and may_see else "",
    }


def pipeline_pages(request: HttpRequest, names: Collection[str]) -> dict[str, str]:
    """The pages of these pipelines by their names, for who may look at them."""
    if not names or not request.user.has_perm("tools.view_pipelineconfig"):
        return {}
    rows = PipelineConfig.objects.filter(pipeline_name__in=names).order_by()
    return {
        name: reverse("admin:tools_pipelineconfig_change", args=[pk])
        for pk, name in rows.values_list("pk", "pipeline_name")
    }


def _test(found: CanaryResult | None) -> dict[str, Any] | None:
    if found is None:
        return None
    took = "" if found.milliseconds is None else f"{found.milliseconds:,} ms"
    return {
        "one": found,
        "colour": "warning" if found.stale else STATUS_COLOURS.get(found.status, "warning"),
        "word": f"{found.status}, old" if found.stale else found.status,
        "took": took,
        "at": moment(found.measured_at),
        "last_success": moment(found.last_success),
    }


def _day(pipeline: PipelineConfig) -> tuple[tuple[str, str], ...]:
    """Figures, each with the way to its calls."""
    now = datetime.now(UTC)
    since = aligned(now - timedelta(hours=HOURS), now)
    tool = pipeline.tool.name
    calls = call_figures(since, now, chosen=Chosen(tools=[tool])).total

    def behind(text: str, **filters: str) -> str:
        return linked(text, addresses.calls(since, None, tool__exact=tool, **filters))

    def time(value: float | None) -> str:
        return "-" if value is None else behind(f"{value:,.0f} ms", **addresses.taking(value))

    failed = f"{100 * calls.error_rate:.1f} %"
    return (
        ("Calls", behind(f"{calls.total:,}", **addresses.ENDED)),
        ("Failed", behind(failed, **addresses.FAILED) if calls.total else "-"),
        ("p50", time(calls.p50_ms)),
        ("p95", time(calls.p95_ms)),
        ("From the cache", behind(f"{calls.cache_hits:,}", cache="hit")),
    )
