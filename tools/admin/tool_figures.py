"""The figures of tools in their list: calls of a day, how many failed and when, how long they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from tools.admin.request_log import addresses
from tools.admin.switching import in_short
from tools.admin.texts import badge, linked
from tools.figures import CallStatistics
from tools.selectors.figures import By, aligned, each
from tools.selectors.hours import Counted, tool_hours
from tools.services.tool_status import ToolStatus, listed_faults, switched_off, tool_statuses

MAY_SEE_CALLS: Final = "tools.view_toolrequest"
# What somebody switched off is no alarm, though callers do not get it.
OFF: Final = "off"
STATUS_COLOURS: Final = {
    ToolStatus.HEALTHY.value: "success",
    ToolStatus.DEGRADED.value: "warning",
    ToolStatus.UNAVAILABLE.value: "danger",
    OFF: "",
}
HOURS: Final = 24
_STEP: Final = 4
_HEIGHT: Final = 20


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """What is known about one tool."""

    since: datetime
    calls: CallStatistics
    hours: Sequence[Counted]


def last_day() -> tuple[datetime, datetime]:
    """The stretch of time that the list is about."""
    now = datetime.now(UTC)
    return aligned(now - timedelta(hours=HOURS), now), now


def add_figures(tools: Sequence[Any]) -> None:
    """Give each tool of a page its `figures`, at the price of a few queries for all."""
    names = [tool.name for tool in tools]
    since, now = last_day()
    groups = each(By.TOOL, since, now, names)
    hours = tool_hours(names, now, HOURS)
    for tool in tools:
        tool.figures = ToolFigures(
            since, groups.get(tool.name, CallStatistics()), hours.get(tool.name, ())
        )


def add_statuses(tools: Sequence[Any]) -> None:
    """Give each tool of a page its `shown_status` and `listed_faults`, as its own page would tell them."""
    faults = listed_faults(tools)
    statuses = tool_statuses(tools, faults)
    off = switched_off(tools)
    for tool in tools:
        tool.shown_status = OFF if tool.pk in off else statuses[tool.name].value
        tool.listed_faults = faults[tool.pk]


def status_of(tool: Any) -> SafeString:
    """With what keeps it from callers beneath: a column for that would be off most screens."""
    word = tool.shown_status
    shown = badge(word, STATUS_COLOURS[word])
    told = in_short(tool.listed_faults, alarming=word != OFF)
    return format_html("{}<br>{}", shown, told) if told else shown


def calls_link(tool: Any) -> SafeString | str:
    """How many, with the way to them."""
    found: ToolFigures = tool.figures
    if not found.calls.total:
        return "-"
    return linked(f"{found.calls.total:,}", _behind(tool, **addresses.ENDED))


def p95(tool: Any) -> SafeString | str:
    """The time that 19 of 20 stay below, with the way to those that do not."""
    milliseconds = tool.figures.calls.p95_ms
    if milliseconds is None:
        return "-"
    return linked(f"{milliseconds:,.0f} ms", _behind(tool, **addresses.taking(milliseconds)))


def failures(tool: Any) -> SafeString | str:
    """The share that failed, and when: one bar for each hour, as high as its share."""
    found: ToolFigures = tool.figures
    if not found.calls.total:
        return "-"
    share = linked(f"{100 * found.calls.error_rate:.1f} %", _behind(tool, **addresses.FAILED))
    # One path for all: an element for each is slow to write, and to read.
    bars = "".join(
        f"M{place * _STEP} {_HEIGHT}v-{height}h3v{height}z"
        for place, (calls, wrong) in enumerate(found.hours)
        if calls and (height := max(1, round(_HEIGHT * wrong / calls)) if wrong else 0)
    )
    if not bars:
        return share
    width = HOURS * _STEP
    return format_html(
        '<span class="whitespace-nowrap">{} <svg class="inline text-red-700 dark:text-red-400" width="{}"'
        ' height="{}" viewBox="0 0 {} {}" role="img" aria-label="Failures by hour, the latest on the right">'
        '<line x1="0" y1="{}" x2="{}" y2="{}" stroke="currentColor" stroke-opacity=".3"/><path d="{}" fill="currentColor"/></svg></span>',
        *(share, width, _HEIGHT, width, _HEIGHT, _HEIGHT, width, _HEIGHT, bars),
    )


def _behind(tool: Any, **filters: str) -> str:
    """Its calls of the day that the figures are of."""
    return addresses.calls(tool.figures.since, None, tool__exact=tool.name, **filters)
