"""Lists of what nobody changes by hand, and that may be long."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters, ShowFacets
from django.contrib.admin.views.main import ORDER_VAR
from django.db import DataError
from django.db.models import QuerySet
from django.http import HttpRequest
from typing_extensions import override
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from tools.admin.paginator import CappedPaginator


class LongChangeList(ChangeList):
    """In its own order, always: any other would sort the whole table.

    A list that is not filtered says nothing of results; the number of all rows is not known.
    """

    @override
    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        self.params.pop(ORDER_VAR, None)
        return super().get_ordering(request, queryset)

    @override
    def get_results(self, request: HttpRequest) -> None:
        try:
            super().get_results(request)
        except (OverflowError, ValueError, DataError) as fault:
            # Typed into the address: a time that no clock shows, a character that no database takes.
            raise IncorrectLookupParameters(fault) from fault
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count


class ReadOnlyAdmin(ModelAdmin):
    """Rows that are written elsewhere; nobody adds, changes or deletes them here."""

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_per_page = 50
    list_fullwidth = True
    actions = None

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return LongChangeList

    @override
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
