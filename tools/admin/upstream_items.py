"""What MCP servers offer, in the admin: each thing with what was approved, and what waits."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST
from typing_extensions import override

from tools.admin.upstream_decisions import DecisionPages
from tools.admin.upstream_diff import shown_differences, shown_findings
from tools.admin.upstream_item_columns import ItemColumns
from tools.admin.upstream_item_filters import WAITING_FIRST, DecisionFilter
from tools.models import UpstreamItem
from tools.upstreams.characters import visible

DECISIONS: Final = {"approve": True, "reject": False}
UNDECIDED: Final = "Nothing was decided: say approve or reject."


@admin.register(UpstreamItem)
class UpstreamItemAdmin(ItemColumns, DecisionPages):
    """Tools, prompts and resources of MCP servers. What waits for a decision comes first."""

    what_comes_here = "What MCP servers offer, once they have been asked."
    list_display = ("named", "kind", "server", "state_badge", "looked_at", "known_as")
    list_display_links = ("named",)
    list_filter = (DecisionFilter, "server", "kind", "state")
    list_filter_submit = False
    list_select_related = ("server", "tool", "prompt", "resource")
    search_fields = ("remote_name", "server__slug", "tool__name", "prompt__name")
    list_per_page = 50
    sortable_by = ()
    actions = ("approve_selected", "reject_selected")
    change_form_outer_before_template = "tools/admin/upstream_item.html"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "server",
                    "kind",
                    "name_shown",
                    "known_as",
                    "state_badge",
                    "problem_shown",
                )
            },
        ),
        ("Definition", {"fields": ("approved_shown", "metadata_shown")}),
        ("Decided", {"fields": ("decided", "first", "changed")}),
    )

    class Media:
        js = ("tools/admin/confirm.js",)

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[UpstreamItem]:
        rows: QuerySet[UpstreamItem] = super().get_queryset(request)
        return rows.defer("approved", "offered", "metadata")

    @override
    def get_ordering(self, request: HttpRequest) -> tuple[Any, ...]:
        return (WAITING_FIRST, "server__slug", "kind", "remote_name")

    @override
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @override
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody writes by hand what a server says; who may decide has buttons for it."""
        return False

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The row of the catalogue goes with it, so who deletes one may delete the other, too."""
        if not super().has_delete_permission(request, obj):
            return False
        kinds = () if obj is None else ("tool", "prompt", "resource")
        goes = [kind for kind in kinds if getattr(obj, f"{kind}_id") is not None]
        return request.user.has_perms([f"tools.delete_{kind}" for kind in goes])

    @override
    def delete_model(self, request: HttpRequest, obj: UpstreamItem) -> None:
        # With the row it stands for, which takes it along; the next discovery finds both anew.
        (obj.row or obj).delete()

    @override
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[UpstreamItem]) -> None:
        for item in queryset:
            self.delete_model(request, item)

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self._decide))
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path("<int:pk>/decide/", view, name="tools_upstreamitem_decide"),
            *super().get_urls(),
        ]

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        item = self.get_object(request, object_id)
        shown: dict[str, Any] = {}
        if item is not None:
            shown = {
                "item": item,
                "may_decide": self.has_decide_permission(request),
                "differences": shown_differences(item),
                "findings": shown_findings(item),
                "rejected": not item.undecided and item.offered is not None,
            }
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    def _decide(self, request: HttpRequest, pk: int) -> HttpResponse:
        item: UpstreamItem | None = self.get_object(request, str(pk))
        if item is None:
            raise Http404
        if not self.has_decide_permission(request):
            raise PermissionDenied
        approved = DECISIONS.get(request.POST.get("decision", ""))
        if approved is None:
            self.message_user(request, UNDECIDED, messages.ERROR)
            return redirect("admin:tools_upstreamitem_change", pk)
        fault = self.decide(request, item, request.POST.get("seen", ""), approved=approved)
        if fault:
            self.message_user(request, fault, messages.ERROR)
            return redirect("admin:tools_upstreamitem_change", pk)
        word = "approved" if approved else "rejected"
        self.message_user(request, f"{visible(str(item))} {word}.", messages.SUCCESS)
        return redirect("admin:tools_upstreamitem_changelist")
