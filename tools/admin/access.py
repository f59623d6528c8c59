"""API clients in the admin: a key is shown once, when it is made."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.html import format_html
from typing_extensions import override
from unfold.admin import ModelAdmin

from tools.admin.connect import ConnectView
from tools.admin.texts import moment
from tools.models import ApiClient
from tools.services.issue_key import IssuedKey, replace_key

# Keys reach the next page in the cookie of Django's messages. More than fits into it would be put
# into the session, and so into the database, where a key must never be.
MOST_AT_ONCE = 3


@admin.register(ApiClient)
class ApiClientAdmin(ModelAdmin):
    """Programs that may call tools."""

    list_display = (
        "name",
        "hint",
        "granted",
        "rate_limit",
        "manages_corpora",
        "enabled",
        "last_used",
    )
    list_filter = ("enabled", "manages_corpora", "toolsets")
    search_fields = ("name", "key_hint")
    autocomplete_fields = ("toolsets",)
    readonly_fields = ("hint", "last_used", "created")
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
        ("Key", {"fields": ("hint", "last_used", "created")}),
    )
    actions = ("replace_keys", "enable", "disable")

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(ConnectView.as_view(model_admin=self))
        # Before the others: the last of them takes whatever it is given for a row.
        return [path("connect/", view, name="tools_apiclient_connect"), *super().get_urls()]

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("toolsets")

    @override
    def save_model(self, request: HttpRequest, obj: ApiClient, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            self._show(request, replace_key(obj))

    @admin.display(description="Key begins with", ordering="key_hint")
    def hint(self, client: ApiClient) -> str:
        return format_html("<code>{}…</code>", client.key_hint)

    @admin.display(description="Last used", ordering="last_used_at")
    def last_used(self, client: ApiClient) -> str:
        return moment(client.last_used_at)

    @admin.display(description="Created")
    def created(self, client: ApiClient) -> str:
        return moment(client.created_at)

    @admin.display(description="Toolsets")
    def granted(self, client: ApiClient) -> str:
        return ", ".join(toolset.slug for toolset in client.toolsets.all()) or "none: sees no tools"

    @admin.display(description="Calls per minute", ordering="rate_limit_per_minute")
    def rate_limit(self, client: ApiClient) -> str:
        return str(client.rate_limit_per_minute or "the service's limit")

    @admin.action(description="Replace the keys of selected clients", permissions=["change"])
    def replace_keys(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        """The old keys stop working within a second."""
        if queryset.count() > MOST_AT_ONCE:
            told = f"Replace at most {MOST_AT_ONCE} keys at once. Nothing was changed."
            self.message_user(request, told, messages.ERROR)
            return
        for client in queryset:
            issued = replace_key(client)
            self.log_change(request, client, "Replaced the key.")
            self._show(request, issued)

    @admin.action(description="Enable selected clients", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        self._switch(request, queryset, on=True)

    @admin.action(description="Disable selected clients", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        self._switch(request, queryset, on=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[ApiClient], *, on: bool) -> None:
        count = queryset.update(enabled=on)
        word = "enabled" if on else "disabled"
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
