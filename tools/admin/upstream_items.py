"""What MCP servers offer, in the admin: each thing with what was approved, and what waits."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.views.decorators.http import require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.json_fields import panel, pretty
from tools.admin.switching import LONGEST_SHOWN
from tools.admin.texts import badge, moment, plural, red
from tools.admin.upstream_decisions import DecisionPages
from tools.admin.upstream_diff import shown_differences, shown_findings
from tools.models import ItemState, Prompt, Tool, UpstreamItem
from tools.upstreams.characters import visible

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
STATE_COLOURS: Final = {
    ItemState.APPROVED: "success",
    ItemState.WAITING: "info",
    ItemState.CHANGED: "danger",
    ItemState.GONE: "",
}
STATE_WORDS: Final = {
    ItemState.WAITING: "new, waits",
    ItemState.CHANGED: "quarantined",
    ItemState.GONE: "gone",
}
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


@admin.register(UpstreamItem)
class UpstreamItemAdmin(DecisionPages, ModelAdmin):
    """Tools, prompts and resources of MCP servers. What waits for a decision comes first."""

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
        approved = request.POST.get("decision") == "approve"
        fault = self.decide(request, item, request.POST.get("seen", ""), approved=approved)
        if fault:
            self.message_user(request, fault, messages.ERROR)
            return redirect("admin:tools_upstreamitem_change", pk)
        word = "approved" if approved else "rejected"
        self.message_user(request, f"{visible(str(item))} {word}.", messages.SUCCESS)
        return redirect("admin:tools_upstreamitem_changelist")

    @admin.display(description="Name there")
    def named(self, item: Any) -> SafeString:
        shown = Truncator(visible(item.remote_name)).chars(LONGEST_SHOWN)
        return format_html('<span style="overflow-wrap: anywhere">{}</span>', shown)

    @admin.display(description="What the server calls it")
    def name_shown(self, item: Any) -> str:
        return visible(item.remote_name)

    @admin.display(description="State")
    def state_badge(self, item: Any) -> SafeString:
        state = ItemState(item.state)
        word = STATE_WORDS.get(state, state.label.lower())
        if state in {ItemState.WAITING, ItemState.CHANGED} and not item.undecided:
            word = "rejected" if state == ItemState.WAITING else "quarantined, rejected"
        return badge(word, STATE_COLOURS[state])

    @admin.display(description="To look at")
    def looked_at(self, item: Any) -> SafeString | str:
        if item.problem:
            return red("cannot be used")
        return red(plural(len(item.findings), "finding")) if item.findings else "-"

    @admin.display(description="Name here")
    def known_as(self, item: Any) -> SafeString | str:
        row = item.row
        if row is None:
            return "-"
        name = row.name if isinstance(row, Tool | Prompt) else row.uri
        address = reverse(f"admin:tools_{row._meta.model_name}_change", args=[row.pk])
        return format_html(LINK, address, Truncator(name).chars(LONGEST_SHOWN))

    @admin.display(description="Problem")
    def problem_shown(self, item: Any) -> SafeString | str:
        return red(item.problem) if item.problem else "none"

    @admin.display(description="Approved")
    def approved_shown(self, item: Any) -> SafeString | str:
        return panel(visible(pretty(item.approved))) if item.approved_hash else "nothing yet"

    @admin.display(description="Beside it")
    def metadata_shown(self, item: Any) -> SafeString:
        return panel(visible(pretty(item.metadata)))

    @admin.display(description="Decided")
    def decided(self, item: Any) -> SafeString | str:
        if not item.decided_at:
            return "by nobody"
        return format_html("{} by {}", moment(item.decided_at), item.decided_by)

    @admin.display(description="First seen")
    def first(self, item: Any) -> SafeString | str:
        return moment(item.first_seen)

    @admin.display(description="Changed")
    def changed(self, item: Any) -> SafeString | str:
        return moment(item.changed_at)
