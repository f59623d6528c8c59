"""The page that imports a services.yaml: shown first, saved when the operator says so."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from tools.admin.texts import plural
from tools.admin.tool_import import ImportForm, pack, unpack
from tools.conf import ConfigurationFault
from tools.services.service_registry import Imported, import_registry


def import_page(admin: Any, request: HttpRequest) -> HttpResponse:
    """Take a file, tell what it would do, and do it when told to."""
    if request.method == "POST" and "save" in request.POST:
        return _save(admin, request)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(*sent)
    form.fields["file"].help_text = "services.yaml: a list of services with name, url and enabled."
    plan: Imported | None = None
    if form.is_valid():
        try:
            plan = import_registry(form.cleaned_data["text"], dry_run=True)
        except ConfigurationFault as fault:
            for one in fault.faults:
                form.add_error(None, one)
    context = {
        **admin.admin_site.each_context(request),
        "title": "Import services",
        "opts": admin.opts,
        "form": form,
        "plan": plan,
        "kept": pack(form.cleaned_data["text"]) if plan else "",
    }
    return render(request, "tools/admin/registry_import.html", context)


def _save(admin: Any, request: HttpRequest) -> HttpResponse:
    """Save what was shown, if it is still what would be saved."""
    text = unpack(request.POST.get("kept", ""))
    if text is None:
        admin.message_user(request, "Choose the file again.", messages.WARNING)
        return redirect("admin:tools_registeredservice_import_services")
    try:
        done = import_registry(text, digest=request.POST.get("digest", "") or "none")
    except ConfigurationFault as fault:
        for line in fault.faults:
            admin.message_user(request, f"Nothing was saved: {line}", messages.ERROR)
        return redirect("admin:tools_registeredservice_import_services")
    told = f"{plural(len(done.added), 'service')} added, {len(done.changed)} changed."
    admin.message_user(request, told, messages.SUCCESS)
    return redirect("admin:tools_registeredservice_changelist")
