"""Who changed what: one row for each change of what operators manage. Rows are added, never changed."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from django.db import models
from django.utils import timezone
from typing_extensions import override

LONGEST_NAME: Final = 200


class ActorKind(models.TextChoices):
    """What kind of actor made a change."""

    PERSON = "person", "Person"
    COMMAND = "command", "Command line"
    WORKER = "worker", "Worker"
    CLIENT = "client", "API client"
    SERVICE = "service", "The service itself"


class Action(models.TextChoices):
    """What was done."""

    ADDED = "added", "Added"
    CHANGED = "changed", "Changed"
    DELETED = "deleted", "Deleted"
    REVERTED = "reverted", "Reverted"
    ISSUED = "issued", "Key issued"
    REPLACED = "replaced", "Key replaced"
    REVOKED = "revoked", "Key revoked"
    APPROVED = "approved", "Offer approved"
    REFUSED = "refused", "Offer rejected"
    SWITCHED = "switched", "Index version switched"
    RESET = "reset", "Breaker reset"
    PURGED = "purged", "Cache emptied"
    EXPORTED = "exported", "Exported"
    UNLOCKED = "unlocked", "Log-in unlocked"
    PRUNED = "pruned", "Audit trail shortened"


class AuditEntry(models.Model):
    """One change, readable when the person and the object are long gone: it refers to neither by key.

    `changes` has for each field `before` and `after` (one of them, when the row came or went), `added` and
    `removed`, or `masked` for a secret; `cut` says that only the beginning of a value is kept.
    """

    at = models.DateTimeField("time", default=timezone.now, editable=False)
    actor_kind = models.CharField(max_length=16, editable=False)
    actor = models.CharField("who", max_length=LONGEST_NAME, blank=True, editable=False)
    address = models.CharField(max_length=64, blank=True, editable=False)
    through = models.CharField(max_length=LONGEST_NAME, blank=True, editable=False)
    action = models.CharField(max_length=16, editable=False)
    kind = models.CharField("kind of object", max_length=100, editable=False)
    object_id = models.CharField(max_length=64, blank=True, editable=False)
    object_name = models.CharField("object", max_length=LONGEST_NAME, editable=False)
    fields = models.TextField("what changed", blank=True, editable=False)
    changes = models.JSONField(default=dict, editable=False)
    note = models.TextField(blank=True, editable=False)

    class Meta:
        ordering = ("-pk",)
        verbose_name = "entry of the audit trail"
        verbose_name_plural = "entries of the audit trail"
        # Nobody changes what was written down.
        default_permissions = ("view",)
        indexes = (
            models.Index(fields=("kind", "object_id", "-id"), name="audit_by_object"),
            models.Index(fields=("actor", "-id"), name="audit_by_actor"),
            models.Index(fields=("action", "-id"), name="audit_by_action"),
            models.Index(fields=("at",), name="audit_by_time"),
        )

    @override
    def __str__(self) -> str:
        return f"{self.object_name} {self.action}"

    @override
    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("Entries of the audit trail are not changed")
        super().save(*args, **kwargs)

    @override
    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("Entries of the audit trail are not deleted by hand; see prune_audit")
