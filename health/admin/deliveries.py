"""Deliveries of events to webhooks in the admin: what arrived, what waits, what was given up."""

from __future__ import annotations

import logging
from typing import Any, Final
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from typing_extensions import override

from health.models import WebhookDelivery
from health.webhooks.deliveries import MOST_ATTEMPTS, send_again
from health.webhooks.workers import delivery_workers
from tools.admin.json_fields import panel, pretty
from tools.admin.read_only import ReadOnlyAdmin
from tools.admin.texts import badge, moment, plural

logger = logging.getLogger(__name__)

COLOURS: Final = {"waiting": "info", "delivered": "success", "given_up": "danger"}


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    """One row for each event and receiver."""

    what_comes_here = "Each message to a webhook, with what became of it."
    list_display = ("made", "webhook", "what", "how", "tried", "problem", "next_try")
    list_display_links = ("made", "what")
    list_filter = ("state", "webhook", "created_at")
    list_select_related = ("webhook", "change")
    search_fields = ("event_id",)
    search_help_text = "Id of the event, as the receiver got it."
    sortable_by = ()
    actions = ("send_again",)  # type: ignore[assignment] # the only thing that can be done here
    fields = (
        *("made", "webhook", "what", "event_id", "how", "tried", "last_status", "problem"),
        *("next_try", "attempted", "ended", "body"),
    )

    @override
    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookDelivery], search_term: str
    ) -> tuple[QuerySet[WebhookDelivery], bool]:
        """Whole ids only; receivers know them with a prefix."""
        term = search_term.strip()
        if not term:
            return queryset, False
        try:
            return queryset.filter(event_id=UUID(term.removeprefix("msg_"))), False
        except ValueError:
            return queryset.none(), False

    def has_send_permission(self, request: HttpRequest) -> bool:
        """Whether the person may have events sent again."""
        return bool(request.user.has_perm("health.change_webhookdelivery"))

    @admin.action(description="Send selected deliveries again", permissions=["send"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        """With the same ids, so that receivers know what they have already."""
        for delivery in queryset:
            send_again(delivery)
            self._tell_workers(delivery)
        told = f"{plural(queryset.count(), 'event')} will be sent again within half a minute."
        self.message_user(request, told, messages.SUCCESS)

    def _tell_workers(self, delivery: WebhookDelivery) -> None:
        try:
            if delivery_workers.send is not None:
                delivery_workers.send(delivery.pk, 0)
        except Exception as fault:  # noqa: BLE001 - whatever the broker raises
            # Whoever looks next what is due sends it.
            logger.info("No worker can be told of a delivery: %s", type(fault).__name__)

    @admin.display(description="Event of")
    def made(self, row: WebhookDelivery) -> str:
        return moment(row.created_at)

    @admin.display(description="Event")
    def what(self, row: WebhookDelivery) -> str:
        return "test" if row.change is None else str(row.change)

    @admin.display(description="State")
    def how(self, row: WebhookDelivery) -> SafeString:
        return badge(row.get_state_display(), COLOURS[row.state])

    @admin.display(description="Attempts")
    def tried(self, row: WebhookDelivery) -> str:
        return f"{row.attempts} of {MOST_ATTEMPTS}"

    @admin.display(description="Problem")
    def problem(self, row: WebhookDelivery) -> str:
        return row.last_error or "-"

    @admin.display(description="Next attempt")
    def next_try(self, row: WebhookDelivery) -> Any:
        return moment(row.next_attempt_at)

    @admin.display(description="Last attempt")
    def attempted(self, row: WebhookDelivery) -> Any:
        return moment(row.attempted_at)

    @admin.display(description="Ended")
    def ended(self, row: WebhookDelivery) -> Any:
        return moment(row.ended_at)

    @admin.display(description="Body")
    def body(self, row: WebhookDelivery) -> SafeString:
        return panel(pretty(row.event))
