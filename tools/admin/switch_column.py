"""A switch in each row of a list: on or off at once, without leaving the list."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from tools.admin.switching import switch_rows

STATES: Final = {"yes": True, "no": False}
_ON: Final = ("true", "On: press to switch off", "no")
_OFF: Final = ("false", "Off: press to switch on", "yes")
# Not a template: a list has one in each of its rows.
_SWITCH: Final = (
    '<button type="submit" role="switch" class="row-switch" aria-checked="{}" aria-label="{} enabled"'
    ' title="{}" formaction="{}" name="on" value="{}"><span aria-hidden="true"></span></button>'
)


class SwitchColumn:
    """For a ModelAdmin with SwitchedRows: `on_off` takes the place of `enabled` for who may change it.

    The page says which state it wants, so that two people who press at once do not undo each other.
    """

    def get_list_display(self, request: HttpRequest) -> Any:
        shown = super().get_list_display(request)  # type: ignore[misc]
        if not self.has_change_permission(request):  # type: ignore[attr-defined]
            return shown
        return tuple("on_off" if name == "enabled" else name for name in shown)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.switch))  # type: ignore[attr-defined]
        inherited: list[URLPattern] = super().get_urls()  # type: ignore[misc]
        return [path("<int:number>/switch/", view, name=self._named("switch")), *inherited]

    @admin.display(description="Enabled", ordering="enabled")
    def on_off(self, row: Any) -> SafeString:
        address = reverse(f"admin:{self._named('switch')}", args=[row.pk])
        checked, told, wanted = _ON if row.enabled else _OFF
        return format_html(_SWITCH, checked, row, told, address, wanted)

    def switch(self, request: HttpRequest, number: int) -> HttpResponse:
        """Switch one row as the page says; tells scripts in JSON and others on the list."""
        rows = self.get_queryset(request)  # type: ignore[attr-defined]
        row = rows.filter(pk=number).first()
        if row is None:
            raise Http404
        if not self.has_change_permission(request, row):  # type: ignore[attr-defined]
            raise PermissionDenied
        on = STATES.get(request.POST.get("on", ""))
        if on is None:
            return HttpResponseBadRequest("Say on=yes or on=no.")
        switch_rows(rows.filter(pk=number), on=on)
        word = "on" if on else "off"
        self.log_change(request, row, f"Switched {word}.")  # type: ignore[attr-defined]
        faults = self.faults_of(row) if on else []  # type: ignore[attr-defined]
        told = f"{row} is {word}" + (f", but callers do not get it: {faults[0]}" if faults else ".")
        if request.headers.get("Accept", "").startswith("application/json"):
            row.refresh_from_db()
            cells = self.cells_of(row)
            return JsonResponse({"on": on, "told": told} | ({"cells": cells} if cells else {}))
        messages.add_message(request, messages.WARNING if faults else messages.SUCCESS, told)
        asked = urlsplit(request.headers.get("Referer", ""))
        address = reverse(f"admin:{self._named('changelist')}")
        query = f"?{asked.query}" if asked.path == address and asked.query else ""
        return redirect(address + query)

    def cells_of(self, row: Any) -> dict[str, str]:
        """By column: what else of a row looks another way when it has been switched."""
        return {}

    def _named(self, name: str) -> str:
        options = self.opts  # type: ignore[attr-defined]
        return f"{options.app_label}_{options.model_name}_{name}"
