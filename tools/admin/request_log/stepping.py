"""From one call to the next, among the calls of the list that somebody came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict

from tools.admin.request_log import addresses
from tools.admin.request_log.form import FilterForm
from tools.models import ToolRequest
from tools.selectors.request_log import Cursor, Sought, Step, step, way_to

# What Django's pages hand on, so that one finds back to the list.
KEPT: Final = "_changelist_filters"


@dataclass(frozen=True, slots=True)
class Kept:
    """The filters of a list: as they were handed over, as the log understands them, and for people."""

    query: str = ""
    sought: Sought = field(default_factory=Sought)
    filters: Mapping[str, str] = field(default_factory=dict)
    told: tuple[tuple[str, str], ...] = ()


def kept_filters(query: str) -> Kept:
    """What the page of a call was handed over; what makes no sense is as no filter at all."""
    try:
        form = FilterForm(QueryDict(query))
    except SuspiciousOperation:
        # More fields than Django reads.
        return Kept()
    if not form.is_valid():
        return Kept()
    told = tuple((label, value) for _, label, value in form.told())
    return Kept(query, form.sought(), form.filters(), told)


def neighbours(row: ToolRequest, kept: Kept) -> dict[str, Any]:
    """The pages of the calls that arrived before and after. Where none was found before the search was
    given up, the list that goes on from there."""
    way, place = way_to(kept.sought), Cursor.at(row)
    way = replace(way, rows=way.rows.only("received_at"))
    earlier, later = (step(way, place, forward=forward) for forward in (False, True))
    return {
        "earlier": _page(earlier, kept),
        "later": _page(later, kept),
        "further_back": _list(kept, before=earlier.stopped),
        "further_on": _list(kept, after=later.stopped),
        "told": kept.told,
    }


def _page(found: Step, kept: Kept) -> str:
    if found.call is None:
        return ""
    carried = f"?{urlencode({KEPT: kept.query})}" if kept.query else ""
    return f"{addresses.one(found.call.pk)}{carried}"


def _list(kept: Kept, **place: Cursor | None) -> str:
    written = {name: str(cursor) for name, cursor in place.items() if cursor is not None}
    return addresses.calls(None, None, **kept.filters, **written) if written else ""
