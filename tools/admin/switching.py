"""What the pages of tools, prompts and resources share: a switch, problems, times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator

from tools.admin.texts import moment, red

# A row of the list on a phone is two lines high.
LONGEST_SHOWN = 60


def in_short(faults: Sequence[str], *, alarming: bool = True) -> str:
    """The first of them, and how many more there are; empty without any."""
    if not faults:
        return ""
    more = f" (+{len(faults) - 1})" if len(faults) > 1 else ""
    words = Truncator(faults[0]).chars(LONGEST_SHOWN) + more
    told = red(words) if alarming else words
    # Between columns that do not wrap it would be one word wide.
    return format_html(
        '<span style="display: inline-block; min-width: 9rem; white-space: normal">{}</span>', told
    )


def switch_rows(rows: QuerySet[Any], *, on: bool) -> int:
    """Switch them, and tell how many there were; also rows with faults, which cannot be saved."""
    values: dict[str, Any] = {"enabled": on}
    if any(field.name == "updated_at" for field in rows.model._meta.concrete_fields):
        values["updated_at"] = timezone.now()
    # The queryset announces the change, so that running processes follow.
    return rows.update(**values)


class SwitchedRows:
    """For a ModelAdmin whose rows can be off, or bad and therefore left out."""

    def faults_of(self, row: Any) -> list[str]:
        """Everything that keeps `row` from callers, of the kinds of rows where that is known before."""
        found: list[str] = row.problems() if hasattr(row, "problems") else []
        return found

    @admin.display(description="Created")
    def created(self, row: Any) -> str:
        return moment(row.created_at)

    @admin.display(description="Updated", ordering="updated_at")
    def updated(self, row: Any) -> str:
        return moment(row.updated_at)

    @admin.display(description="Problem")
    def problem(self, row: Any) -> str:
        """Why callers do not get this row, in short, or a dash."""
        return in_short(self.faults_of(row)) or "-"

    @admin.display(description="Problems")
    def problems(self, row: Any) -> str:
        """Everything that keeps this row from callers."""
        faults = self.faults_of(row)
        return format_html_join("", "{}<br>", ((red(fault),) for fault in faults)) or "none"

    @admin.action(description="Enable selected %(verbose_name_plural)s", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._switch(request, queryset, on=True)

    @admin.action(description="Disable selected %(verbose_name_plural)s", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._switch(request, queryset, on=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[Any], *, on: bool) -> None:
        count = switch_rows(queryset, on=on)
        options = queryset.model._meta
        noun = options.verbose_name if count == 1 else options.verbose_name_plural
        told = f"{count} {noun} {'enabled' if on else 'disabled'}."
        self.message_user(request, told, messages.SUCCESS)  # type: ignore[attr-defined]
