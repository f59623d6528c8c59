"""The history of an object: its part of the audit trail."""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from tools.services.audit.watched import registry


def history(request: HttpRequest, app: str, model: str, object_id: str) -> HttpResponse:
    """To the audit trail, for who may read it; others see what the admin itself has noted."""
    try:
        found = apps.get_model(app, model)
    except LookupError as fault:
        raise Http404 from fault
    page = admin.site._registry.get(found)
    if page is None:
        raise Http404
    trail = reverse("admin:tools_auditentry_changelist")
    if found._meta.label_lower == "tools.auditentry":
        # Entries have no history: they are one.
        return redirect(trail)
    reads = admin.site.has_permission(request) and request.user.has_perm("tools.view_auditentry")
    if found in registry and reads:
        wanted = {"kind": registry[found].kind, "object": unquote(object_id)}
        return redirect(f"{trail}?{urlencode(wanted)}")
    view = admin.site.admin_view(page.history_view)
    answer: HttpResponse = view(request, object_id)
    return answer
