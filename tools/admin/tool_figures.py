"""The figures of tools in their list: calls of a day, how many failed and when, how long they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from tools.admin.request_log import addresses
from tools.figures import CallStatistics
from tools.selectors.figures import By, aligned, each
from tools.selectors.hours import Counted, tool_hours
from tools.services.tool_status import backing_faults, tool_statuses

HOURS: Final = 24
_STEP: Final = 4
_HEIGHT: Final = 20


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """What is known about one tool."""

    since: datetime
    calls: CallStatistics
    hours: Sequence[Counted]


def add_figures(tools: Sequence[Any]) -> None:
    """Give each tool of a page its `figures`, at the price of a few queries for all."""
    names = [tool.name for tool in tools]
    now = datetime.now(UTC)
    since = aligned(now - timedelta(hours=HOURS), now)
    groups = each(By.TOOL, since, now, names)
    hours = tool_hours(names, now, HOURS)
    for tool in tools:
        tool.figures = ToolFigures(
            since, groups.get(tool.name, CallStatistics()), hours.get(tool.name, ())
        )


def add_statuses(tools: Sequence[Any]) -> None:
    """Give each tool of a page its `status_now` and `backing_fault`, as its own page would tell them."""
    faults = backing_faults(tools)
    statuses = tool_statuses(tools, faults)
    for tool in tools:
        tool.status_now = statuses[tool.name]
        tool.backing_fault = faults.get(tool.pk, "")


def calls_link(tool: Any) -> SafeString | str:
    """How many, with the way to them."""
    found: ToolFigures = tool.figures
    if not found.calls.total:
        return "-"
    return format_html(
        '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>',
        addresses.of_tool(tool.name, found.since),
        f"{found.calls.total:,}",
    )


def p95(tool: Any) -> str:
    milliseconds = tool.figures.calls.p95_ms
    return "-" if milliseconds is None else f"{milliseconds:,.0f} ms"


def failures(tool: Any) -> SafeString | str:
    """The share that failed, and when: one bar for each hour, as high as its share."""
    found: ToolFigures = tool.figures
    if not found.calls.total:
        return "-"
    share = f"{100 * found.calls.error_rate:.1f} %"
    bars = [
        (place * _STEP, _HEIGHT - height, height)
        for place, (calls, wrong) in enumerate(found.hours)
        if calls and (height := max(1, round(_HEIGHT * wrong / calls)) if wrong else 0)
    ]
    if not bars:
        return share
    drawn = format_html_join(
        "", '<rect x="{}" y="{}" width="3" height="{}" fill="currentColor"/>', bars
    )
    width = HOURS * _STEP
    return format_html(
        '<span class="whitespace-nowrap">{} <svg class="inline text-red-700 dark:text-red-400" width="{}"'
        ' height="{}" viewBox="0 0 {} {}" role="img" aria-label="Failures by hour, the latest on the right">'
        '<line x1="0" y1="{}" x2="{}" y2="{}" stroke="currentColor" stroke-opacity=".3"/>{}</svg></span>',
        *(share, width, _HEIGHT, width, _HEIGHT, _HEIGHT, width, _HEIGHT, drawn),
    )
