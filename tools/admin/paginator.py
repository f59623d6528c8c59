"""Pages of tables too long to be counted."""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

from django.core.paginator import Paginator
from django.db.models import QuerySet
from typing_extensions import override

MOST_COUNTED = 10_000


class CappedPaginator(Paginator):
    """Counts to ten thousand and stops; the label then says so. What is older is found by filters."""

    template_name = "tools/admin/pagination_capped.html"

    @cached_property
    def _counted(self) -> int:
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by()[: MOST_COUNTED + 1].count()

    @cached_property
    @override
    def count(self) -> int:
        return min(self._counted, MOST_COUNTED)

    @property
    def capped(self) -> bool:
        """Whether there are more rows than were counted."""
        return self._counted > MOST_COUNTED
