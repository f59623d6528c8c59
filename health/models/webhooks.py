"""Whom changes of status are told to, and what became of telling them."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from typing_extensions import override

from health.models.history import StatusChange
from health.webhooks.rules import address_faults, network_faults
from health.webhooks.signing import secret_faults


class Told(models.TextChoices):
    """Which changes a webhook is told of."""

    ALL = "all", "Every change: the service, dependencies, pipelines"
    SERVICE = "service", "Only changes of the service as a whole"


class DeliveryState(models.TextChoices):
    """Where the delivery of an event is."""

    WAITING = "waiting", "waiting"
    DELIVERED = "delivered", "delivered"
    GIVEN_UP = "given_up", "given up"


class HealthWebhook(models.Model):
    """A receiver that changes of status are posted to, signed as Standard Webhooks has it."""

    name = models.CharField(max_length=64, unique=True)
    url = models.CharField(
        "address", max_length=500, help_text="Where events are posted, such as https://…"
    )
    enabled = models.BooleanField(default=True)
    changes = models.CharField("told of", max_length=8, choices=Told.choices, default=Told.ALL)
    allowed_networks = models.JSONField(
        default=list,
        blank=True,
        help_text="Private networks it may be in, such as 10.20.0.0/16. Others are refused.",
    )
    # Sealed; written through `set_secret`, opened when something is signed.
    secret = models.TextField(editable=False)
    # Why the program itself switched it off.
    off_because = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        verbose_name = "webhook"

    @override
    def __str__(self) -> str:
        return self.name

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        if self.enabled:
            self.off_because = ""
        super().save(*args, **kwargs)

    @override
    def clean(self) -> None:
        faults = {
            "url": address_faults(self.url),
            "allowed_networks": network_faults(self.allowed_networks),
        }
        if found := {field: messages for field, messages in faults.items() if messages}:
            raise ValidationError(found)

    def set_secret(self, text: str) -> None:
        """Keep the key that events are signed with; nobody can read it back.

        Raises:
            ValueError: it cannot be one.
        """
        # Only who writes secrets pays for the cryptography.
        from tools.vault import seal

        if faults := secret_faults(text):
            raise ValueError(faults[0])
        self.secret = seal(text)

    @property
    def host(self) -> str:
        """Where it is, without the path, which may be a secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


class WebhookDelivery(models.Model):
    """One event for one receiver. Without a change it is a test.

    While it waits, whoever sends it puts `next_attempt_at` ahead in the same step: nobody else sends it
    meanwhile, and if the sender dies it is due again.
    """

    event_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(HealthWebhook, on_delete=models.CASCADE, related_name="deliveries")
    change = models.ForeignKey(
        StatusChange, null=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    event = models.JSONField(editable=False)
    state = models.CharField(
        max_length=9, choices=DeliveryState.choices, default=DeliveryState.WAITING, editable=False
    )
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    last_status = models.PositiveSmallIntegerField(null=True, editable=False)
    last_error = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(default=timezone.now, db_index=True, editable=False)
    attempted_at = models.DateTimeField(null=True, editable=False)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = "delivery"
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                condition=models.Q(state="waiting"),
                name="delivery_due",
            ),
        )

    @override
    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook}"
