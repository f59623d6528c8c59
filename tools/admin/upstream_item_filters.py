"""Which offers of MCP servers wait for somebody: their order, and filters for them."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from django.http import HttpRequest
from typing_extensions import override

from tools.models import ItemState

UNDECIDED: Final = Q(state__in=(ItemState.WAITING, ItemState.CHANGED)) & ~Q(
    offered_hash=F("rejected_hash")
)

WAITING_FIRST: Final = Case(
    When(UNDECIDED, then=Value(0)), default=Value(1), output_field=IntegerField()
).asc()


class DecisionFilter(admin.SimpleListFilter):
    """By what an operator has to do, or should look at."""

    title = "decision"
    parameter_name = "decision"

    @override
    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("open", "Waits for one"),
            ("rejected", "Rejected"),
            ("flagged", "Has something to look at"),
        ]

    @override
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "open":
                return queryset.filter(UNDECIDED)
            case "rejected":
                return queryset.exclude(rejected_hash="").filter(offered_hash=F("rejected_hash"))
            case "flagged":
                return queryset.exclude(findings=[])
        return queryset
