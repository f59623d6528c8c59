"""Lists of the journal: a page at a time from a place on, never by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.admin.views.main import ORDER_VAR
from django.db.models import QuerySet
from django.http import HttpRequest
from typing_extensions import override

from tools.admin.request_log.around import tool_page
from tools.admin.request_log.form import FilterForm
from tools.admin.request_log.formats import MOST_EXPORTED
from tools.admin.request_log.keyset import KeysetChangeList
from tools.admin.request_log.retention import kept_for
from tools.admin.request_log.words import line
from tools.selectors.live import caller_names
from tools.selectors.request_log import ROWS, Cursor, Page, Sought, count, page, way_to

# On the form, but not at first sight.
MORE: Final = (
    *("received_at__gte", "received_at__lt", "duration_ms__gte", "duration_ms__lte", "cache"),
    *("state__exact", "transport__exact", "source", "q"),
)
# Links set them, and they stay while somebody filters further.
HIDDEN: Final = (
    *("correlation_id__exact", "thread_id__exact", "finished_at__isnull"),
    *("tokens_after__isnull", "shortened"),
)
# In an address: the list is to renew itself; only what is renewed is wanted.
RENEW: Final = "renew"
PART: Final = "part"
# Long, and not in the list.
DEFERRED: Final = ("parameters", "query_text", "stages")


class LogChangeList(KeysetChangeList):
    """Latest first, always, and only what the filters leave; a fault in them leaves nothing."""

    @override
    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Any]:
        self.params.pop(ORDER_VAR, None)
        return super().get_queryset(request, exclude_parameters)

    @override
    def get_results(self, request: HttpRequest) -> None:
        self.form = FilterForm(request.GET)
        self.shown = Page(())
        self.counted = ""
        self.lines: list[dict[str, Any]] = []
        self.tool_page = self.gone = ""
        self.renewable = self.renewing = False
        if self.form.is_valid():
            # Only the newest page changes while one looks at it.
            given = self.form.cleaned_data
            self.renewable = not (given["before"] or given["after"])
            self.renewing = self.renewable and RENEW in request.GET
            self._read(self.form.sought(), given)
            self.tool_page = tool_page(given["tool__exact"], request.user.has_perm)
        self.told = [
            (label, value, self.address(without=name)) for name, label, value in self.form.told()
        ]
        # Parts of a page have no form.
        self.offered = {} if PART in request.GET else self.form.offered(request.user)
        self.more_fields = [self.form[name] for name in MORE]
        self.more_set = any(field.data or field.errors for field in self.more_fields)
        self.hidden_fields = [self.form[name] for name in HIDDEN if self.form[name].data]
        self.most_exported, self.page_length = MOST_EXPORTED, ROWS
        self.show()

    def _read(self, sought: Sought, given: Mapping[str, Any]) -> None:
        self.gone = _gone(sought, given["before"])
        way = way_to(sought)
        way = replace(way, rows=way.rows.defer(*DEFERRED))
        self.shown = page(way, before=given["before"], after=given["after"])
        if self.shown.newest:
            self.counted = _counted(*count(way, self.shown))
        names = caller_names({row.caller for row in self.shown.rows})
        kept = self.form.filters() | ({RENEW: "1"} if self.renewing else {})

        @cache
        def only(name: str, value: str) -> str:
            # Few values stand in many rows.
            return f"?{urlencode({**kept, name: value})}"

        self.lines = [line(row, names, only) for row in self.shown.rows]

    @property
    def kept_filters(self) -> str:
        """What the page of a call needs to lead back here."""
        own = {name: value for name, value in self.filter_params.items() if name != PART}
        query = urlencode(own, doseq=True)
        return f"?{urlencode({'_changelist_filters': query})}" if query else ""

    @property
    def renewal_address(self) -> str:
        """The same calls, but renewed where they are not, and standing still where they are renewed."""
        return f"?{urlencode(self.form.filters() | ({} if self.renewing else {RENEW: '1'}))}"

    @property
    def part_address(self) -> str:
        """Where the latest calls alone are fetched from."""
        return f"?{urlencode(self.form.filters() | {RENEW: '1', PART: ''})}"

    @property
    def step_address(self) -> str:
        """Where a search that was given up goes on, without the rest of the page; empty if it was not."""
        given_up = self.shown.looked and not self.shown.forward and not self.renewing
        return f"{self.older_address}&{PART}=" if given_up else ""

    @override
    def address(self, *, without: str = "", **place: Cursor | None) -> str:
        """This list from another place on, or with one filter less."""
        kept = {name: value for name, value in self.form.filters().items() if name != without}
        kept.update({name: str(cursor) for name, cursor in place.items() if cursor is not None})
        return f"?{urlencode(kept)}"


def _gone(sought: Sought, before: Cursor | None) -> str:
    """That calls which are asked for are too old to be there any more; empty if none are."""
    asked = [sought.since, sought.until, before and before.received_at]
    kept = kept_for(min((one for one in asked if one), default=datetime.now(UTC)))
    return f"{kept}; older ones are gone." if kept else ""


def _counted(number: int, complete: bool) -> str:
    """The number of calls for people; a plus sign says that there may be more."""
    if complete:
        return f"{number:,} call" if number == 1 else f"{number:,} calls"
    return f"{number:,}+ calls" if number else "No call yet"
