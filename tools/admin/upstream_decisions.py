"""Deciding on several offers at once: shown first, and only what was shown is decided."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.texts import plural
from tools.admin.upstream_diff import shown_differences, shown_findings
from tools.models import UpstreamItem
from tools.services.approve_upstream import Outdated, approve, reject
from tools.upstreams.characters import visible
from tools.upstreams.matching import Budget

OUTDATED = (
    "The server has said something else since this page was shown, or somebody has decided already. "
    "Look at it again."
)


class DecisionPages(ModelAdmin):
    """For the ModelAdmin of offers: the rights, one decision, and many."""

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tools.change_upstreamitem")

    @override
    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Deleting is for one at a time, so that nobody takes it for rejecting."""
        actions: dict[str, Any] = super().get_actions(request)
        return {name: action for name, action in actions.items() if name != "delete_selected"}

    @admin.action(description="Approve selected offers", permissions=["decide"])
    def approve_selected(
        self, request: HttpRequest, queryset: QuerySet[UpstreamItem]
    ) -> HttpResponse | None:
        return self._several(request, queryset, approved=True)

    @admin.action(description="Reject selected offers", permissions=["decide"])
    def reject_selected(
        self, request: HttpRequest, queryset: QuerySet[UpstreamItem]
    ) -> HttpResponse | None:
        return self._several(request, queryset, approved=False)

    def decide(self, request: HttpRequest, item: UpstreamItem, seen: str, *, approved: bool) -> str:
        """Settle one offer whose definition had the hash `seen`; what stood in the way, or empty."""
        settle = approve if approved else reject
        try:
            settle(item.pk, request.user.get_username(), seen=seen)
        except Outdated:
            return OUTDATED
        except ValidationError as fault:
            return f"The catalogue cannot hold it: {'; '.join(fault.messages)}"
        self.log_change(request, item, "Approved." if approved else "Rejected.")
        return ""

    def _several(
        self, request: HttpRequest, queryset: QuerySet[UpstreamItem], *, approved: bool
    ) -> HttpResponse | None:
        items = list(queryset.order_by("server", "kind", "remote_name"))
        if request.POST.get("post"):
            self._settle(request, items, approved=approved)
            return None
        waiting = [item for item in items if item.undecided]
        if not waiting:
            self.message_user(request, "None of these waits for a decision.", messages.WARNING)
            return None
        word = "Approve" if approved else "Reject"
        # No server makes the offers of another harder to read.
        budgets = Budget().shares(len(waiting))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{word} {plural(len(waiting), 'offer')}?",
            "opts": self.opts,
            "word": word,
            "action": f"{word.lower()}_selected",
            "checkbox": ACTION_CHECKBOX_NAME,
            "left_out": len(items) - len(waiting),
            "items": [
                {
                    "one": item,
                    "differences": shown_differences(item, budget),
                    "findings": shown_findings(item),
                }
                for item, budget in zip(waiting, budgets, strict=True)
            ],
        }
        return render(request, "tools/admin/upstream_decide.html", context)

    def _settle(self, request: HttpRequest, items: list[UpstreamItem], *, approved: bool) -> None:
        done = 0
        for item in items:
            seen = request.POST.get(f"seen_{item.pk}", "")
            fault = self.decide(request, item, seen, approved=approved)
            if fault:
                self.message_user(request, f"{visible(str(item))}: {fault}", messages.ERROR)
            else:
                done += 1
        if done:
            word = "approved" if approved else "rejected"
            self.message_user(request, f"{plural(done, 'offer')} {word}.", messages.SUCCESS)
