"""Changes of status in the admin: to read, the latest first."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from health.admin.words import status_badge
from health.models import StatusChange
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.texts import moment


@admin.register(StatusChange)
class StatusChangeAdmin(ReadOnlyAdmin):
    """Every status that is not what it was."""

    what_comes_here = (
        "Whenever the service, a dependency or a pipeline gets well or worse, a row says "
        "when and why."
    )
    list_display = ("when", "name", "subject", "was", "now", "reason")
    list_display_links = ("when", "name")
    list_filter = ("subject", ("name", admin.AllValuesFieldListFilter), "after", "at")
    search_fields = ("name", "reason")
    sortable_by = ()
    fields = ("when", "subject", "name", "was", "now", "reason")

    @admin.display(description="At")
    def when(self, row: StatusChange) -> str:
        return moment(row.at, milliseconds=True)

    @admin.display(description="Was")
    def was(self, row: StatusChange) -> SafeString | str:
        return status_badge(row.before) if row.before else "new"

    @admin.display(description="Is")
    def now(self, row: StatusChange) -> SafeString:
        return status_badge(row.after)
