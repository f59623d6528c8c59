"""The page that makes an HTTP API out of an OpenAPI document: its name and address are in there already."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from unfold.widgets import UnfoldAdminTextInputWidget

from tools.admin.openapi_form import LARGEST_BYTES, ImportForm
from tools.admin.tool_import import pack, unpack
from tools.models import ApiService
from tools.models.http_rules import auth_faults
from tools.openapi import DocumentFault
from tools.services.import_openapi import new_service

# What a form has beside the document.
ROOM: Final = 65_536
TOO_LARGE: Final = (
    "The document is too large for this way. Add the API by hand, then import it there."
)
# No network is named yet, so only public addresses are asked.
PUBLIC: Final = (
    "A public http or https address. Of one inside your network choose the file instead."
)


class NewApiForm(forms.ModelForm):
    """What an API is called and where it is, as far as nobody else can know."""

    class Meta:
        model = ApiService
        fields = ("slug", "title", "base_url", "prefix")
        widgets: Final = dict.fromkeys(fields, UnfoldAdminTextInputWidget)


def new_page(admin: Any, request: HttpRequest) -> HttpResponse:
    """Take a document, ask what the new API is to be called, and lead on to its operations."""
    if request.method == "POST" and "kept" in request.POST:
        return _make(admin, request)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ImportForm(*sent)
    form.fields["address"].help_text = PUBLIC
    if not form.is_valid():
        return _shown(admin, request, form)
    text = form.cleaned_data["text"]
    try:
        service = new_service(text, origin=form.cleaned_data["address"].strip())
    except DocumentFault as fault:
        form.add_error(None, str(fault))
        return _shown(admin, request, form)
    service.slug = _name(service.title)
    kept = pack(text)
    if len(kept) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE - ROOM:
        form.add_error(None, TOO_LARGE)
        return _shown(admin, request, form)
    return _shown(admin, request, NewApiForm(instance=service), kept)


def _make(admin: Any, request: HttpRequest) -> HttpResponse:
    """Save the API, without operations: those are shown next."""
    kept = request.POST["kept"]
    text = unpack(kept, LARGEST_BYTES) or ""
    try:
        service = new_service(text)
    except DocumentFault:
        admin.message_user(request, "Choose the document again.", messages.WARNING)
        return redirect("admin:tools_apiservice_from_document")
    if auth_faults(service.auth, service.auth_name):
        service.auth, service.auth_name = "none", ""
    service.draft = text
    form = NewApiForm(request.POST, instance=service)
    if not form.is_valid():
        return _shown(admin, request, form, kept)
    made = form.save()
    admin.log_addition(request, made, "Made from an OpenAPI document.")
    told = f"{made} is saved, without tools so far: choose its operations."
    admin.message_user(request, told, messages.SUCCESS)
    if made.auth != "none":
        told = f"It signs in ({made.get_auth_display()}): enter its key on its page."
        admin.message_user(request, told, messages.WARNING)
    return redirect(f"{reverse('admin:tools_apiservice_import', args=[made.pk])}?draft=1")


def _shown(admin: Any, request: HttpRequest, form: forms.BaseForm, kept: str = "") -> HttpResponse:
    context = {
        **admin.admin_site.each_context(request),
        "title": "New API from an OpenAPI document",
        "opts": admin.opts,
        "form": form,
        "kept": kept,
    }
    return render(request, "tools/admin/openapi_new.html", context)


def _name(title: str) -> str:
    """A short name out of the title of a document; empty when it has no letters for one."""
    return (
        slugify(title).replace("_", "-").strip("-")[: ApiService.slug.field.max_length].strip("-")
    )
