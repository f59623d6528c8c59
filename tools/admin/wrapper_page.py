"""The page that generates wrappers for registered services and hands them out as a zip file."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from tools.services.fetch_tools import asking_for_rows
from tools.services.generate_wrappers import LONGEST_LINE, NothingToDo, Order, Report, generate_zip
from tools.services.service_registry import registered
from tools.wrappers.kinds import KINDS, parse_kinds
from tools.wrappers.quoting import one_line

LABELS: Final = {
    "bash": "Bash scripts, one for each tool (curl and jq)",
    "python": "Python client, one module for each service",
    "cli": "Command lines in Python, one for each tool",
    "skill": "Skills for agent programs, one folder for each tool",
    "typescript": "TypeScript client, one module for each service",
}
MOST_TOLD: Final = 20


class WrapperForm(forms.Form):
    """Which services, and which kinds of wrappers."""

    services = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one service."},
    )
    types = forms.MultipleChoiceField(
        choices=[(name, LABELS[name]) for name in KINDS],
        initial=list(KINDS),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one type."},
    )

    def __init__(self, names: list[str], *args: Any) -> None:
        super().__init__(*args)
        self.fields["services"].choices = [(name, name) for name in names]  # type: ignore[attr-defined]
        self.fields["services"].initial = names


def wrapper_page(admin: Any, request: HttpRequest) -> HttpResponse:
    """Ask which, then answer with a zip file; what went wrong is told on the page, or the next one."""
    entries = registered()
    names = [one.name for one in entries if one.enabled]
    form = WrapperForm(names, *([request.POST] if request.method == "POST" else []))
    errors: list[str] = []
    if form.is_valid():
        order = Order(
            tuple(entries),
            parse_kinds(form.cleaned_data["types"]),
            tuple(form.cleaned_data["services"]),
        )
        try:
            # All services are asked at once: a person waits 33 s for those that hang, and a few for the others.
            packed, report = generate_zip(order, asking_for_rows())
        except NothingToDo as fault:
            errors = [str(fault)]
        else:
            if packed:
                return _download(admin, request, packed, report)
            errors = report.errors or ["These services list no tools."]
    context = {
        **admin.admin_site.each_context(request),
        "title": "Generate wrappers",
        "opts": admin.opts,
        "form": form,
        "names": names,
        "errors": _first(errors),
    }
    return render(request, "tools/admin/wrappers.html", context)


def _first(errors: list[str]) -> list[str]:
    told = [one_line(error, LONGEST_LINE) for error in errors[:MOST_TOLD]]
    more = len(errors) - len(told)
    return [*told, f"And {more} more."] if more else told


def _download(admin: Any, request: HttpRequest, packed: bytes, report: Report) -> HttpResponse:
    for error in _first(report.errors):
        # Shown on the next page; it is in the file, too.
        admin.message_user(request, error, messages.WARNING)
    name = f"wrappers-{timezone.localtime():%Y-%m-%d}.zip"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(packed, content_type="application/zip", headers=headers)
