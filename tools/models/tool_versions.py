"""The definition of a tool as it was after each change."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from typing_extensions import override

from tools.models.audit import LONGEST_NAME
from tools.models.catalog import Tool


class ToolVersion(models.Model):
    """What a tool was from a change on. It goes with its tool: another of the same name begins at 1."""

    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    # The names of the fields in which it differs from the version before.
    fields = models.TextField("what changed", blank=True)
    at = models.DateTimeField(default=timezone.now)
    actor_kind = models.CharField(max_length=16, blank=True)
    actor = models.CharField("who", max_length=LONGEST_NAME, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("tool", "-number")
        # Whoever may look at a tool may look at its versions.
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("tool", "number"), name="tool_version_number_unique"),
        )

    @override
    def __str__(self) -> str:
        return f"version {self.number}"
