"""Keys of API clients: made, replaced, ended; each shown once on a page of its own.

A new key travels to that page in a cookie that only this page is sent and that it takes back, so it is
never in the database, in a session or in an address.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.contrib import messages
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.models import ApiClient
from tools.selectors import service_settings
from tools.services.call_examples import with_curl
from tools.services.client_config import KEY_VARIABLE
from tools.services.client_usage import caller_of
from tools.services.first_call import first_call
from tools.services.issue_key import (
    IssuedKey,
    IssueRefused,
    end_old_key,
    old_key_until,
    replace_key,
    switch_off,
)

COOKIE: Final = "issued_key"
SALT: Final = "tools.admin.client_keys"
# For the browser to come to the next page.
COOKIE_SECONDS: Final = 120
# How long an old key may go on working.
GRACES: Final = (
    (0, "stops at once"),
    (1, "works for an hour"),
    (24, "works for a day"),
    (168, "works for a week"),
)
REVOKED: Final = (
    "{} is off: its keys are refused within a second. If one has leaked, replace the key before you "
    "switch the client on again."
)


class KeyPages(ModelAdmin):
    """For the ModelAdmin of API clients."""

    @override
    def get_urls(self) -> list[URLPattern]:
        pages = (
            ("key", require_GET(self._key)),
            ("rotate", require_POST(self._rotate)),
            ("end_old_key", require_POST(self._end_old_key)),
            ("revoke", require_POST(self._revoke)),
        )
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            *(
                path(
                    f"<int:pk>/{name.replace('_', '-')}/",
                    self.admin_site.admin_view(view),
                    name=f"tools_apiclient_{name}",
                )
                for name, view in pages
            ),
            *super().get_urls(),
        ]

    def show_once(self, request: HttpRequest, issued: IssuedKey) -> HttpResponse:
        """Lead to the page that shows the key, this once."""
        address = reverse("admin:tools_apiclient_key", args=[issued.client.pk])
        response = redirect(address)
        response.set_cookie(
            COOKIE,
            signing.dumps([issued.client.pk, issued.key], salt=SALT),
            max_age=COOKIE_SECONDS,
            path=address,
            secure=request.is_secure(),
            httponly=True,
            samesite="Strict",
        )
        return response

    def _key(self, request: HttpRequest, pk: int) -> HttpResponse:
        client = self._found(request, pk)
        key = _carried(request, client)
        may_change = self.has_change_permission(request, client)
        # Whoever made the key sees it, also who may add clients and not change them.
        if not key and not may_change:
            raise PermissionDenied
        call = first_call(client, _base_url(request), key) if key else None
        shown: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": f"Key of {client.name}",
            "client": client,
            "key": key,
            "tool": call.tool if call else "",
            "command": with_curl(call) if call else "",
            "export": f"export {KEY_VARIABLE}={key}",
            "may_change": may_change,
            "log": log_address(client),
            "keys_required": service_settings().security_api_keys_enabled,
            **key_page(client),
        }
        response = render(request, "tools/admin/client_key.html", shown)
        response.delete_cookie(COOKIE, path=request.path)
        return response

    def _rotate(self, request: HttpRequest, pk: int) -> HttpResponse:
        client = self._changeable(request, pk)
        hours = request.POST.get("hours", "0")
        known = {str(hour): told for hour, told in GRACES}
        if hours not in known:
            raise Http404
        try:
            issued = replace_key(client, old_for=timedelta(hours=int(hours)))
        except IssueRefused as fault:
            self.message_user(request, f"The key was not replaced: {fault}", messages.ERROR)
            return redirect("admin:tools_apiclient_change", pk)
        self.log_change(request, client, f"Replaced the key; the old one {known[hours]}.")
        return self.show_once(request, issued)

    def _end_old_key(self, request: HttpRequest, pk: int) -> HttpResponse:
        client = self._changeable(request, pk)
        if end_old_key(client):
            self.log_change(request, client, "Ended the old key.")
            self.message_user(request, "The old key stops within a second.", messages.SUCCESS)
        else:
            self.message_user(request, "There is no old key that still works.", messages.WARNING)
        return redirect("admin:tools_apiclient_change", pk)

    def _revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Off at once, whatever else a form may hold that was not saved."""
        client = self._changeable(request, pk)
        if switch_off(client):
            self.log_change(request, client, "Revoked: switched off.")
            self.message_user(request, REVOKED.format(client), messages.SUCCESS)
        else:
            self.message_user(request, f"{client} was off already.", messages.WARNING)
        return redirect("admin:tools_apiclient_change", pk)

    def _found(self, request: HttpRequest, pk: int) -> ApiClient:
        client: ApiClient | None = self.get_object(request, str(pk))
        if client is None:
            raise Http404
        return client

    def _changeable(self, request: HttpRequest, pk: int) -> ApiClient:
        client = self._found(request, pk)
        if not self.has_change_permission(request, client):
            raise PermissionDenied
        return client


def key_page(client: ApiClient) -> dict[str, Any]:
    """The context of the form that replaces a client's key."""
    return {"graces": GRACES, "old_key_until": old_key_until(client)}


def log_address(client: ApiClient, **filters: str) -> str:
    """The client's calls in the request log."""
    query = urlencode({"caller__exact": caller_of(client), **filters})
    return f"{reverse('admin:tools_toolrequest_changelist')}?{query}"


def _carried(request: HttpRequest, client: ApiClient) -> str:
    """The key in the cookie; empty when there is none, or one of somebody else."""
    try:
        pk, key = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=COOKIE_SECONDS)
    except signing.BadSignature:
        return ""
    return str(key) if pk == client.pk else ""


def _base_url(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"
