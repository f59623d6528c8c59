"""Addresses of the request log: of its list, filtered, and of its pages. Written here and nowhere else."""

from __future__ import annotations

import math
from datetime import datetime
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from django.urls import get_script_prefix, reverse

LIST: Final = "admin:tools_toolrequest_changelist"
ONE: Final = "admin:tools_toolrequest_change"
EXPORT: Final = "admin:tools_toolrequest_export"
FAILED: Final = {"status__in": "failure,timeout"}
# Figures count calls when they end; beside these, lists have those that are under way.
ENDED: Final = {"finished_at__isnull": "False"}
SHORTENED: Final = {"shortened": "True"}


def calls(since: datetime | None = None, until: datetime | None = None, **filters: str) -> str:
    """The calls that came in from `since` until before `until`, narrowed by fields of the log."""
    times = {"received_at__gte": since, "received_at__lt": until}
    told = {name: moment.isoformat() for name, moment in times.items() if moment is not None}
    query = urlencode({**filters, **told})
    page = _page(get_script_prefix())
    return f"{page}?{query}" if query else page


@cache
def _page(prefix: str) -> str:
    """The list below `prefix`; the dashboard names it hundreds of times."""
    return reverse(LIST)


def taking(milliseconds: float | None) -> dict[str, str]:
    """The filter that leaves the calls of at least this time, which was measured within 1 %."""
    if milliseconds is None:
        return {}
    return {"duration_ms__gte": f"{math.floor(milliseconds * 9.9) / 10:.1f}"}


def running() -> str:
    """The calls that have not ended."""
    return calls(finished_at__isnull="True")


def of_tool(name: str, since: datetime | None = None, until: datetime | None = None) -> str:
    """The calls of one tool."""
    return calls(since, until, tool__exact=name)


def unfinished(tool: str) -> str:
    """The calls of one tool that have not ended: those that run, and those that wait."""
    return calls(tool__exact=tool, finished_at__isnull="True")


def of_caller(caller: str, since: datetime | None = None, until: datetime | None = None) -> str:
    """The calls of one caller, who is named as in the log."""
    return calls(since, until, caller__exact=caller)


def one(call_id: Any) -> str:
    """The page of one call."""
    return reverse(ONE, args=[call_id])
