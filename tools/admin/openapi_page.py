"""The page that imports an OpenAPI document: shown first, saved when the operator says so."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from tools.admin.openapi_form import ImportForm, shown_preview
from tools.admin.texts import plural
from tools.models import ApiService
from tools.openapi import DocumentFault
from tools.services.import_openapi import Applied, Outdated, apply_draft, digest_of, preview

MOST_TOLD: Final = 10
OUTDATED: Final = (
    "Nothing was saved: somebody else has looked at another document since, or has changed this API or its tools, "
    "so the import would do something else than was shown. Choose yours again."
)


def import_page(admin: Any, request: HttpRequest, service: ApiService) -> HttpResponse:
    """Take a document, show what it would do, and do it when told to."""
    if request.method == "POST" and "save" in request.POST:
        return _save(admin, request, service)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(*sent, networks=service.allowed_networks)
    shown = None
    # The document that a new API was made of is looked at without giving it again.
    text = service.draft if request.method == "GET" and "draft" in request.GET else ""
    if form.is_valid():
        text = form.cleaned_data["text"]
    if text:
        try:
            found = preview(text, service)
        except DocumentFault as fault:
            form.add_error(None, str(fault))
        else:
            digest = digest_of(text, service, found)
            shown = shown_preview(found, service.imported) | {"digest": digest}
            ApiService.objects.filter(pk=service.pk).update(draft=text)
    context = {
        **admin.admin_site.each_context(request),
        "title": f"Import operations into {service}",
        "opts": admin.opts,
        "service": service,
        "form": form,
        "preview": shown,
    }
    return render(request, "tools/admin/openapi_import.html", context)


def _save(admin: Any, request: HttpRequest, service: ApiService) -> HttpResponse:
    """Save what was shown, if it is still what would be saved."""
    try:
        done = apply_draft(
            service, request.POST.get("digest", ""), set(request.POST.getlist("chosen"))
        )
    except Outdated:
        admin.message_user(request, OUTDATED, messages.WARNING)
        return redirect("admin:tools_apiservice_import", service.pk)
    _tell(admin, request, done)
    return redirect("admin:tools_apiservice_change", service.pk)


def _tell(admin: Any, request: HttpRequest, done: Applied) -> None:
    told = (
        f"{plural(len(done.added), 'tool')} added, {len(done.changed)} changed, "
        f"{len(done.switched_off)} switched off."
    )
    admin.message_user(request, told, messages.SUCCESS)
    if done.kept_edits:
        edits = ", ".join(done.kept_edits[:MOST_TOLD])
        admin.message_user(request, f"Left as you changed them: {edits}.", messages.INFO)
    for key, reason in list(done.refused.items())[:MOST_TOLD]:
        admin.message_user(request, f"{key} was not taken: {reason}", messages.WARNING)
