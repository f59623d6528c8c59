"""Which of many tools need a look: a filter by how they do, and their order by figures of a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.contrib import admin
from django.db.models import F, QuerySet, TextField, Value
from django.db.models.functions import Concat, StrIndex
from django.http import HttpRequest
from typing_extensions import override
from unfold.views import ChangeList

from tools.admin.tool_figures import MAY_SEE_CALLS, STATUS_COLOURS, add_statuses, last_day
from tools.figures import CallStatistics
from tools.selectors.figures import By, each

CALLS: Final = "calls_of_a_day"
FAILED: Final = "failed_of_a_day"
P95: Final = "p95_of_a_day"
# By what is shown in a column; of those alike, the one with more calls counts for more.
_WEIGHED: Final[Mapping[str, Callable[[CallStatistics], tuple[float, int]]]] = {
    CALLS: lambda calls: (calls.total, 0),
    FAILED: lambda calls: (calls.error_rate, calls.total),
    P95: lambda calls: (calls.p95_ms or 0.0, calls.total),
}
_LATELY_FAILED: Final = "failed"
# In no name of a tool.
_BETWEEN: Final = ","


class StatusFilter(admin.SimpleListFilter):
    """By the status that the list shows, or by whether calls of the last day failed."""

    title = "status"
    parameter_name = "status"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        shown = [(word, word.capitalize()) for word in STATUS_COLOURS]
        if request.user.has_perm(MAY_SEE_CALLS):
            return [(_LATELY_FAILED, "Failed in the last 24 h"), *shown]
        return shown

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        if wanted not in dict(self.lookup_choices):
            return queryset
        if wanted == _LATELY_FAILED:
            return queryset.filter(name__in=_lately_failed())
        tools = list(queryset)
        add_statuses(tools)
        return queryset.filter(pk__in=[tool.pk for tool in tools if tool.shown_status == wanted])


class ToolChangeList(ChangeList):
    """Can be in the order of figures, which are in no column of the table of tools."""

    @override
    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        return [_in_order(part) for part in super().get_ordering(request, queryset)]


def _in_order(part: Any) -> Any:
    """The place of a tool among all that were called, where figures are asked for.

    Tools without calls are in place 0. One text with all names costs the database less than
    a condition for each of them.
    """
    figure = part.removeprefix("-") if isinstance(part, str) else ""
    if figure not in _WEIGHED:
        return part
    groups = each(By.TOOL, *last_day(), times=figure == P95)
    weigh = _WEIGHED[figure]
    names = sorted(groups, key=lambda name: weigh(groups[name]), reverse=True)
    together = Value(_BETWEEN.join(["", *reversed(names), ""]), output_field=TextField())
    one = Concat(Value(_BETWEEN), F("name"), Value(_BETWEEN), output_field=TextField())
    place = StrIndex(together, one)
    return place.desc() if part.startswith("-") else place.asc()


def _lately_failed() -> list[str]:
    groups = each(By.TOOL, *last_day(), times=False)
    return [name for name, calls in groups.items() if calls.total > calls.successful]
