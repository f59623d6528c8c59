"""The audit trail in the admin: to read, never to change."""

from __future__ import annotations

from typing import Any, Final

from django.apps import apps
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from typing_extensions import override

from tools.admin.audit_changes import kept_changes
from tools.admin.audit_filters import (
    ActionFilter,
    KindFilter,
    ObjectFilter,
    WhoFilter,
    actor_of,
    label_of,
)
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.texts import badge, moment
from tools.models import AuditEntry
from tools.models.audit import Action
from tools.services.audit.values import LONGEST_VALUE

COLOURS: Final = {
    Action.ADDED: "success",
    Action.ISSUED: "success",
    Action.APPROVED: "success",
    Action.DELETED: "danger",
    Action.REVOKED: "danger",
    Action.REFUSED: "danger",
    Action.PRUNED: "danger",
    Action.REVERTED: "warning",
    Action.REPLACED: "warning",
    Action.CHANGED: "info",
}
LONGEST_SHOWN: Final = 60


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Who changed what, latest first."""

    list_display = ("when", "who", "done", "kind_name", "named", "what")
    list_display_links = ("when", "named")
    list_filter = (WhoFilter, KindFilter, ActionFilter, ObjectFilter, "at")
    list_filter_submit = False
    search_fields = ("object_name", "actor", "fields", "note")
    search_help_text = "Part of an object's name, a person, a changed field or a remark."
    sortable_by = ()

    class Media:
        css = {"all": ("tools/admin/audit.css",)}

    fieldsets = (
        (None, {"fields": ("when", "who", "address", "through", "done", "about", "remark")}),
        ("Before and after", {"fields": ("differences",)}),
    )

    @override
    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Without the values, which are read one entry at a time."""
        rows: QuerySet[AuditEntry] = super().get_queryset(request)
        return rows.defer("changes")

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry], search_term: str
    ) -> tuple[QuerySet[AuditEntry], bool]:
        """The whole text, as it was typed: names have spaces."""
        term = search_term.strip()
        if not term or "\0" in term:
            return (queryset.none() if term else queryset), False
        found = Q()
        for name in self.search_fields:
            found |= Q(**{f"{name}__icontains": term})
        return queryset.filter(found), False

    @admin.display(description="Time")
    def when(self, entry: AuditEntry) -> str:
        return moment(entry.at)

    @admin.display(description="Who")
    def who(self, entry: AuditEntry) -> str:
        return actor_of(entry)

    @admin.display(description="Action")
    def done(self, entry: AuditEntry) -> SafeString:
        label = dict(Action.choices).get(entry.action, entry.action)
        known = entry.action in Action.values
        return badge(str(label), COLOURS.get(Action(entry.action), "") if known else "")

    @admin.display(description="Kind")
    def kind_name(self, entry: AuditEntry) -> str:
        return label_of(entry.kind)

    @admin.display(description="Object")
    def named(self, entry: AuditEntry) -> str:
        return Truncator(entry.object_name).chars(LONGEST_SHOWN)

    @admin.display(description="What")
    def what(self, entry: AuditEntry) -> str:
        text = entry.fields.replace("_", " ") if entry.action != Action.ADDED else ""
        return Truncator(text or entry.note).chars(LONGEST_SHOWN) or "-"

    @admin.display(description="Object")
    def about(self, entry: AuditEntry) -> SafeString:
        """The object, by the name it had; a link while it is there, and to the rest of its history."""
        trail = reverse("admin:tools_auditentry_changelist")
        return render_to_string(
            "tools/admin/audit_object.html",
            {
                "entry": entry,
                "kind": label_of(entry.kind),
                "page": _page_of(entry),
                "history": trail if entry.object_id else "",
            },
        )

    @admin.display(description="Remark")
    def remark(self, entry: AuditEntry) -> str:
        return entry.note or "-"

    @admin.display(description="Fields")
    def differences(self, entry: AuditEntry) -> SafeString | str:
        if not entry.changes:
            return format_html("{}", "This is no change of fields.")
        context = {"changes": kept_changes(entry.changes), "longest": LONGEST_VALUE}
        return render_to_string("tools/admin/audit_changes.html", context)


def _page_of(entry: AuditEntry) -> str:
    """Where the object is changed; empty when it is gone, or has no page."""
    try:
        model: Any = apps.get_model(entry.kind)
        page = reverse(f"admin:{entry.kind.replace('.', '_')}_change", args=[entry.object_id])
    except (LookupError, ValueError, NoReverseMatch):
        return ""
    return page if model._base_manager.filter(pk=entry.object_id).exists() else ""
