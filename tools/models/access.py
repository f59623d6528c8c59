"""Who may call: API clients and their keys."""

from __future__ import annotations

from typing import Any

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.models.audited import AuditedModel
from tools.models.catalog import Toolset
from tools.models.signals import AnnouncingManager

HASH_PATTERN = r"^[0-9a-f]{64}\Z"
LABEL_PATTERN = r"^\S(.{0,98}\S)?\Z"


class ApiClient(AuditedModel):
    """A program with an API key. The key itself is shown once and never stored."""

    name = models.CharField(
        max_length=100,
        unique=True,
        validators=[
            RegexValidator(LABEL_PATTERN, "Use one line of text without spaces at its ends.")
        ],
        help_text="The program or team that holds the key; shown in the request log.",
    )
    key_hash = models.CharField(
        max_length=64,
        unique=True,
        editable=False,
        validators=[RegexValidator(HASH_PATTERN, "Must be a SHA-256 digest.")],
    )
    key_hint = models.CharField(
        max_length=16, editable=False, help_text="First characters of the key, to tell keys apart."
    )
    # The key before this one, while whoever holds it changes over.
    previous_key_hash = models.CharField(
        max_length=64,
        unique=True,
        null=True,
        blank=True,
        editable=False,
        validators=[RegexValidator(HASH_PATTERN, "Must be a SHA-256 digest.")],
    )
    previous_key_until = models.DateTimeField(null=True, blank=True, editable=False)
    rate_limit_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(10)],
        help_text="Calls per minute, at least 10. Empty: the service's limit.",
    )
    toolsets = models.ManyToManyField(
        Toolset, related_name="clients", blank=True, help_text="The client sees these tools alone."
    )
    manages_corpora = models.BooleanField(
        default=False,
        help_text="May create, fill, index and delete corpora over REST.",
    )
    enabled = models.BooleanField(default=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnnouncingManager()

    class Meta:
        verbose_name = "API client"
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=Q(name__regex=LABEL_PATTERN), name="api_client_name_not_blank"
            ),
            models.CheckConstraint(
                condition=Q(key_hash__regex=HASH_PATTERN), name="api_client_key_is_hashed"
            ),
            models.CheckConstraint(
                condition=Q(rate_limit_per_minute__isnull=True) | Q(rate_limit_per_minute__gte=10),
                name="api_client_rate_at_least_10",
            ),
            models.CheckConstraint(
                condition=Q(previous_key_hash__isnull=True, previous_key_until__isnull=True)
                | Q(previous_key_hash__regex=HASH_PATTERN, previous_key_until__isnull=False),
                name="api_client_old_key_ends",
            ),
        )

    @override
    def __str__(self) -> str:
        return self.name

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        self.full_clean()
        super().save(*args, **kwargs)
