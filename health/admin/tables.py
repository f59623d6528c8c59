"""A report as tables: each dependency and each pipeline, with the way to what is behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from health.admin.words import COLOURS, MEASURED_BY, ago, anchor
from health.findings import Dependency, HealthReport, PipelineHealth, of_pipeline
from tools.admin.request_log import addresses as log
from tools.admin.texts import linked, moment, plural
from tools.selectors.figures import aligned

MAY_SEE_CALLS: Final = "tools.view_toolrequest"
LAST_HOUR: Final = timedelta(hours=1)
# Where dependencies of a kind are listed, by what their names begin with: title, app, model, page.
_BEHIND: Final = (
    ("mcp:", "Server", "tools", "upstreamserver", "changelist"),
    ("api:", "HTTP API", "tools", "apiservice", "changelist"),
    ("beat", "Schedule", "django_celery_beat", "periodictask", "changelist"),
    ("worker", "Schedule", "django_celery_beat", "periodictask", "changelist"),
)
Link = tuple[str, str]
# Title, app, model, page and filters of what lies behind a row.
Behind = tuple[str, str, str, str, Mapping[str, str]]


def report_tables(report: HealthReport, request: HttpRequest | None = None) -> dict[str, Any]:
    """The context of the tables; with a request, links to what the person may look at."""
    may: Callable[[str], bool] = request.user.has_perm if request else lambda _: False
    return {
        "report": report,
        "colour": COLOURS[report.status.value],
        "figures": _figures(report, may),
        "dependencies": [
            _dependency(name, one, report, may)
            for name, one in sorted(report.dependencies.items(), key=_own_first)
        ],
        "pipelines": [
            _pipeline(name, one, report, may) for name, one in sorted(report.pipelines.items())
        ],
        "breakers": _breakers(report.breakers, may),
    }


def _own_first(item: tuple[str, Any]) -> tuple[bool, str]:
    """What the service cannot do without, then servers and APIs; databases keep no order of keys."""
    return ":" in item[0], item[0]


def _figures(report: HealthReport, may: Callable[[str], bool]) -> tuple[tuple[str, Any], ...]:
    calls, told = report.calls, "not known"
    if calls:
        told = _failed(f"{calls['failed']:,} of {calls['total']:,} failed", report, may)
    return (
        ("Measured", moment(report.checked_at)),
        ("That is", ago(report.age_seconds)),
        ("By", MEASURED_BY[report.source]),
        ("Database connections", report.pool_usage),
        ("Calls of the last hour", told),
    )


def _dependency(
    name: str, found: Dependency, report: HealthReport, may: Callable[[str], bool]
) -> dict[str, Any]:
    time = found.response_time_ms
    return {
        "name": name,
        "anchor": anchor(name),
        "status": found.status.value,
        "colour": COLOURS[found.status.value],
        "time": "-" if time is None else f"{time:,} ms",
        "error": found.error or "",
        "details": ", ".join(
            f"{key.replace('_', ' ')} {one}" for key, one in found.details.items()
        ),
        "links": _links(_behind(name, report), may),
    }


def _behind(name: str, report: HealthReport) -> Iterable[Behind]:
    for beginning, title, app, model, page in _BEHIND:
        if name.startswith(beginning):
            searched = {"q": name.removeprefix(beginning)} if ":" in beginning else {}
            yield title, app, model, page, searched
    if report.breakers.get(name, {}).get("state", "CLOSED") != "CLOSED":
        yield "Breaker", "tools", "upstreamserver", "breakers", {}


def _failed(
    text: str, report: HealthReport, may: Callable[[str], bool], **filters: str
) -> SafeString | str:
    """What is said of the last hour's failures, as the way to them for whoever may see calls."""
    if not may(MAY_SEE_CALLS):
        return text
    until = report.checked_at
    since = aligned(until - LAST_HOUR, until)
    return linked(text, log.calls(since, until, **filters, **log.FAILED))


def _pipeline(
    name: str, found: PipelineHealth, report: HealthReport, may: Callable[[str], bool]
) -> dict[str, Any]:
    behind = (
        ("Pipeline", "tools", "pipelineconfig", "changelist", {"q": name}),
        ("Calls", "tools", "toolrequest", "changelist", {"tool__exact": name}),
    )
    canary = found.canary_ms
    return {
        "name": name,
        "anchor": anchor(of_pipeline(name)),
        "counted": found.counted,
        "status": found.status.value if found.counted else "not counted",
        "colour": COLOURS[found.status.value] if found.counted else "",
        "canary": "-" if canary is None else f"{canary:,} ms",
        "last_success": "never" if found.last_success is None else moment(found.last_success),
        "error_rate": _failed(f"{100 * found.error_rate:.1f} %", report, may, tool__exact=name),
        "error": found.error or "",
        "links": _links(behind, may),
    }


def _breakers(breakers: Mapping[str, Mapping[str, Any]], may: Callable[[str], bool]) -> Any:
    unwell = {name: one for name, one in breakers.items() if one["state"] != "CLOSED"}
    links = _links([("Breakers", "tools", "upstreamserver", "breakers", {})], may)
    rows = [
        (name, one["state"], plural(one["failure_count"], "failure"))
        for name, one in unwell.items()
    ]
    return {"rows": rows, "links": links}


def _links(behind: Iterable[Behind], may: Callable[[str], bool]) -> list[Link]:
    return [
        (
            title,
            reverse(f"admin:{app}_{model}_{page}") + (f"?{urlencode(filters)}" if filters else ""),
        )
        for title, app, model, page, filters in behind
        if may(f"{app}.view_{model}")
    ]
