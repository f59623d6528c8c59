"""Webhooks in the admin: whom changes are told to, and a test event on demand."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST
from typing_extensions import override
from unfold.admin import ModelAdmin

from health.admin.webhook_form import HealthWebhookForm
from health.models import DeliveryState, HealthWebhook, WebhookDelivery
from tools.admin.json_fields import JsonFieldsMixin
from tools.admin.slow_pages import in_a_place
from tools.admin.texts import badge, moment

LINK: Final = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'
MADE: Final = (
    "<strong>The signing secret of {}. Copy it now: it is not shown again.</strong><br>"
    '<code style="display: inline-block; margin-top: 8px; padding: 6px 10px; '
    "border: 1px dashed currentColor; border-radius: 6px; font-size: 14px; "
    'user-select: all; overflow-wrap: anywhere;">{}</code><br>'
    '<span style="display: inline-block; margin-top: 8px;">The receiver checks signatures with it.'
    "</span>"
)


@admin.register(HealthWebhook)
class HealthWebhookAdmin(JsonFieldsMixin, ModelAdmin):
    """Receivers of changes of status."""

    what_comes_here = "An address that is told when the health of something changes."
    form = HealthWebhookForm
    list_display = ("name", "where", "told_of", "state", "last_delivery")
    list_display_links = ("name",)
    search_fields = ("name",)
    warn_unsaved_form = True
    readonly_fields = ("where", "secret_kept", "state", "delivered", "created", "updated")
    change_form_outer_before_template = "health/admin/webhook.html"
    _own = ("name", "url", "changes", "enabled")
    _signing = ("Signature", {"fields": ("secret_kept", "new_secret")})
    _network = ("Where it may be", {"fields": ("allowed_networks",)})

    @override
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self._test))
        # Before the others: the last of them takes whatever it is given for a row.
        return [
            path("<int:pk>/test/", view, name="health_healthwebhook_test"),
            *super().get_urls(),
        ]

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        """With the latest delivery of each."""
        last = WebhookDelivery.objects.filter(webhook=OuterRef("pk"))
        state, at = (Subquery(last.values(name)[:1]) for name in ("state", "created_at"))
        return super().get_queryset(request).annotate(last_state=state, last_at=at)

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            signing = ("Signature", {"fields": ("new_secret",)})
            return ((None, {"fields": self._own}), signing, self._network)
        state = ("State", {"fields": ("state", "delivered", "created", "updated")})
        if not self.has_change_permission(request, obj):
            # The path of an address may be a secret.
            shown = (None, {"fields": ("name", "where", "changes")})
            return (shown, ("Signature", {"fields": ("secret_kept",)}), self._network, state)
        return ((None, {"fields": self._own}), self._signing, self._network, state)

    @override
    def save_model(self, request: HttpRequest, obj: HealthWebhook, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if form.made:
            self.message_user(request, format_html(MADE, obj.name, form.made), messages.WARNING)

    @override
    def response_post_save_add(self, request: HttpRequest, obj: HealthWebhook) -> HttpResponse:
        """Right on to where a test can be sent."""
        return redirect("admin:health_healthwebhook_change", obj.pk)

    def _test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send a test event and say what came back."""
        webhook = HealthWebhook.objects.filter(pk=pk).first()
        if webhook is None:
            raise Http404
        if not self.has_change_permission(request, webhook):
            raise PermissionDenied
        return in_a_place(request, lambda: self._send(request, webhook))

    def _send(self, request: HttpRequest, webhook: HealthWebhook) -> HttpResponse:
        # Only who sends one pays for the client.
        from health.webhooks.trial import send_trial

        outcome = send_trial(webhook)
        self.log_change(request, webhook, "Sent a test event.")
        if outcome.ok:
            told = f"The receiver took the test event: it answered with status {outcome.status}."
            self.message_user(request, told, messages.SUCCESS)
        else:
            told = f"The test event was not taken: {outcome.error}."
            self.message_user(request, told, messages.ERROR)
        return redirect("admin:health_healthwebhook_change", webhook.pk)

    @admin.display(description="Receiver", ordering="url")
    def where(self, webhook: HealthWebhook) -> str:
        return webhook.host

    @admin.display(description="Told of", ordering="changes")
    def told_of(self, webhook: HealthWebhook) -> str:
        return "every change" if webhook.changes == "all" else "the service as a whole"

    @admin.display(description="State", ordering="enabled")
    def state(self, webhook: HealthWebhook) -> SafeString:
        if webhook.enabled:
            return badge("on", "success")
        return format_html("{} {}", badge("off", "warning"), webhook.off_because)

    @admin.display(description="Stored secret")
    def secret_kept(self, webhook: HealthWebhook) -> str:
        return "yes, encrypted" if webhook.secret else "no"

    @admin.display(description="Last delivery")
    def last_delivery(self, webhook: Any) -> str:
        if webhook.last_state is None:
            return "none yet"
        state = DeliveryState(webhook.last_state).label
        return format_html("{} {}", state, moment(webhook.last_at))

    @admin.display(description="Deliveries")
    def delivered(self, webhook: HealthWebhook) -> SafeString:
        address = reverse("admin:health_webhookdelivery_changelist")
        return format_html(LINK, f"{address}?webhook__id__exact={webhook.pk}", "All of them")

    @admin.display(description="Created")
    def created(self, webhook: HealthWebhook) -> str:
        return moment(webhook.created_at)

    @admin.display(description="Updated")
    def updated(self, webhook: HealthWebhook) -> str:
        return moment(webhook.updated_at)
