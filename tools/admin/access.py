"""API clients in the admin: who may call, with which key, and what they use of their limits."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET
from typing_extensions import override
from unfold.views import ChangeList

from tools.admin.client_keys import KeyPages, key_page
from tools.admin.client_usage import add_usage, calls_link, rate_shown, usage_page
from tools.admin.connect import ConnectView
from tools.admin.guarded_form import GuardedForm
from tools.admin.switch_column import SwitchColumn
from tools.admin.switching import SwitchedRows, switch_rows
from tools.admin.texts import moment
from tools.models import ApiClient
from tools.services.issue_key import IssuedKey, IssueRefused, replace_key

# Keys reach the next page in the cookie of Django's messages. More than fits into it would be put
# into the session, and so into the database, where a key must never be.
MOST_AT_ONCE = 3


class ClientChangeList(ChangeList):
    """With what each client uses; all of them are asked about at once."""

    result_list: Any

    @override
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)
        add_usage(rows)
        self.result_list = rows


@admin.register(ApiClient)
class ApiClientAdmin(SwitchColumn, SwitchedRows, KeyPages):
    """Programs that may call tools."""

    form = GuardedForm
    what_comes_here = (
        "A key for each program that calls tools, with what it may see and how often it may call."
    )
    list_display = (
        *("name", "hint", "granted", "rate_now", "calls_day"),
        *("last_used", "enabled"),
    )
    list_filter = ("enabled", "manages_corpora", "toolsets")
    list_filter_submit = False
    search_fields = ("name", "key_hint")
    list_per_page = 50
    autocomplete_fields = ("toolsets",)
    readonly_fields = ("last_used", "created")
    change_form_outer_before_template = "tools/admin/client.html"
    add_fieldsets = (
        (
            None,
            {
                "fields": (
                    "name",
                    "toolsets",
                    "rate_limit_per_minute",
                    "manages_corpora",
                    "enabled",
                )
            },
        ),
    )
    fieldsets = (
        *add_fieldsets,
        ("Times", {"fields": ("last_used", "created")}),
    )
    actions = ("replace_keys", "enable", "disable")

    class Media:
        css: ClassVar = {"all": ("tools/admin/switch.css",)}
        js = ("tools/admin/follow.js", "tools/admin/confirm.js", "tools/admin/switch.js")

    @override
    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        connect = wrap(ConnectView.as_view(model_admin=self))
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path("connect/", connect, name="tools_apiclient_connect"),
            path("<int:pk>/usage/", wrap(require_GET(self._usage)), name="tools_apiclient_usage"),
            *super().get_urls(),
        ]

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("toolsets")

    @override
    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ClientChangeList]:
        return ClientChangeList

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        client = self.get_object(request, object_id)
        shown: dict[str, Any] = {}
        if client is not None:
            may_change = self.has_change_permission(request, client)
            shown = {**usage_page(client), **key_page(client), "may_change": may_change}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @override
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            obj.issued = replace_key(obj)

    @override
    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Whichever button was pressed: the key is shown next, or never."""
        return self.show_once(request, obj.issued)

    def _usage(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The part of the page that changes while the client calls."""
        client = self.get_object(request, str(pk))
        if client is None:
            raise Http404
        if not self.has_view_permission(request, client):
            raise PermissionDenied
        return render(request, "tools/admin/client_usage.html", usage_page(client))

    @admin.display(description="Key", ordering="key_hint")
    def hint(self, client: ApiClient) -> str:
        return format_html("<code>{}…</code>", client.key_hint)

    @admin.display(description="Last used", ordering="last_used_at")
    def last_used(self, client: ApiClient) -> str:
        return moment(client.last_used_at) if client.last_used_at else "never"

    @admin.display(description="Created")
    @override
    def created(self, client: ApiClient) -> str:
        return moment(client.created_at)

    @admin.display(description="Toolsets")
    def granted(self, client: ApiClient) -> str:
        return ", ".join(toolset.slug for toolset in client.toolsets.all()) or "none: sees no tools"

    @admin.display(description="Per minute, now", ordering="rate_limit_per_minute")
    def rate_now(self, client: Any) -> SafeString:
        return rate_shown(client)

    @admin.display(description="Calls, 24 h")
    def calls_day(self, client: Any) -> SafeString | str:
        return calls_link(client)

    @admin.action(description="Replace the keys of selected clients", permissions=["change"])
    def replace_keys(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        """The old keys stop working within a second."""
        if queryset.count() > MOST_AT_ONCE:
            told = f"Replace at most {MOST_AT_ONCE} keys at once. Nothing was changed."
            self.message_user(request, told, messages.ERROR)
            return
        for client in queryset:
            try:
                issued = replace_key(client)
            except IssueRefused as fault:
                self.message_user(request, f"The key was not replaced: {fault}", messages.ERROR)
                continue
            self.log_change(request, client, "Replaced the key.")
            self._show(request, issued)

    @admin.action(description="Enable selected clients", permissions=["change"])
    @override
    def enable(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        self._switch(request, queryset, on=True)

    @admin.action(description="Disable selected clients", permissions=["change"])
    @override
    def disable(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        self._switch(request, queryset, on=False)

    @override
    def _switch(self, request: HttpRequest, queryset: QuerySet[ApiClient], *, on: bool) -> None:
        word = "enabled" if on else "disabled"
        for client in queryset:
            self.log_change(request, client, f"{word.capitalize()}.")
        count = switch_rows(queryset, on=on)
        self.message_user(
            request, f"{count} {'client' if count == 1 else 'clients'} {word}.", messages.SUCCESS
        )

    def _show(self, request: HttpRequest, issued: IssuedKey) -> None:
        self.message_user(
            request,
            format_html(
                "<strong>The key of {}. Copy it now: it is not shown again.</strong><br>"
                '<code style="display: inline-block; margin-top: 8px; padding: 6px 10px; '
                "border: 1px dashed currentColor; border-radius: 6px; font-size: 14px; "
                'user-select: all; overflow-wrap: anywhere;">{}</code><br>'
                '<span style="display: inline-block; margin-top: 8px;">One click selects it all. '
                "Send it as <code>Authorization: Bearer …</code> or <code>X-API-Key: …</code>.</span>",
                issued.client.name,
                issued.key,
            ),
            messages.WARNING,
        )
