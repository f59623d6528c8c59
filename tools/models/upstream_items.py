"""What upstream servers offer: each tool, prompt and resource with the definition that was approved."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.signals import post_delete, pre_delete
from typing_extensions import override

from tools.models.audited import AuditedModel
from tools.models.catalog import Tool
from tools.models.offerings import Prompt, Resource
from tools.models.signals import AnnouncingManager
from tools.models.upstream_rules import LONGEST_REMOTE_NAME
from tools.models.upstreams import UpstreamServer
from tools.upstreams import Kind


class ItemState(models.TextChoices):
    """Whether agents may use what a server offers."""

    APPROVED = "approved", "Approved"
    WAITING = "waiting", "New, waits for approval"
    CHANGED = "changed", "Changed, quarantined"
    GONE = "gone", "No longer offered"


class UpstreamItem(AuditedModel):
    """One thing a server offers: what was approved of it, and what the server says now.

    It stands for one row of the catalogue, or for none when it cannot be represented there; then
    `problem` says why. `approved_hash` is empty until it was approved.
    """

    server = models.ForeignKey(UpstreamServer, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=16, choices=[(one.value, one.value) for one in Kind])
    remote_name = models.CharField(
        max_length=LONGEST_REMOTE_NAME,
        help_text="What the server calls it; the address of a resource.",
    )
    tool = models.OneToOneField(
        Tool, null=True, blank=True, on_delete=models.CASCADE, related_name="upstream_item"
    )
    prompt = models.OneToOneField(
        Prompt, null=True, blank=True, on_delete=models.CASCADE, related_name="upstream_item"
    )
    resource = models.OneToOneField(
        Resource, null=True, blank=True, on_delete=models.CASCADE, related_name="upstream_item"
    )
    state = models.CharField(max_length=16, choices=ItemState.choices)
    # The pinned part of the definition the rows of the catalogue are made of, and its hash.
    approved = models.JSONField(default=dict, editable=False)
    approved_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    # What the server says instead, while somebody has to decide on it.
    offered = models.JSONField(null=True, blank=True, editable=False)
    offered_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    # Somebody saw this definition and does not want it; it is not asked about again.
    rejected_hash = models.CharField(max_length=64, blank=True, default="", editable=False)
    # The part of the definition that may change without anybody being misled.
    metadata = models.JSONField(default=dict, editable=False)
    findings = models.JSONField(default=list, editable=False)
    problem = models.TextField(blank=True, default="", editable=False)
    first_seen = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    decided_by = models.CharField(max_length=150, blank=True, default="", editable=False)
    decided_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = AnnouncingManager()

    class Meta:
        ordering = ("server", "kind", "remote_name")
        verbose_name = "offer of an MCP server"
        verbose_name_plural = "offers of MCP servers"
        constraints = (
            models.UniqueConstraint(
                fields=("server", "kind", "remote_name"), name="upstream_item_unique"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[one.value for one in Kind]), name="upstream_item_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=ItemState.values), name="upstream_item_state_known"
            ),
            models.CheckConstraint(
                condition=Q(tool=None, prompt=None)
                | Q(tool=None, resource=None)
                | Q(prompt=None, resource=None),
                name="upstream_item_has_one_row",
            ),
        )
        indexes = (models.Index(fields=("state",), name="upstream_item_state"),)

    @override
    def __str__(self) -> str:
        return f"{self.kind} {self.remote_name}"

    @property
    def row(self) -> Tool | Prompt | Resource | None:
        """The row of the catalogue it stands for."""
        return self.tool or self.prompt or self.resource

    @property
    def undecided(self) -> bool:
        """Whether somebody has to say what becomes of it."""
        open_states = (ItemState.CHANGED, ItemState.WAITING)
        return self.state in open_states and self.offered_hash != self.rejected_hash


def _remove_rows(instance: UpstreamServer, using: str, **kwargs: Any) -> None:
    """What a server offered goes with it; tools first, because each takes its item along."""
    # Discoveries hold the server before its rows; in another order we would wait for each other.
    list(UpstreamServer._base_manager.using(using).select_for_update().filter(pk=instance.pk))
    for model in (Tool, Prompt, Resource):
        model.objects.using(using).filter(upstream_item__server=instance).delete()


def _look_again(instance: UpstreamItem, using: str, **kwargs: Any) -> None:
    """What was deleted by hand is found anew by the next discovery, also by one that says the same.

    Its row goes with it: nobody could answer for it, and it would keep its name from what comes.
    """
    rows = (
        (Tool, instance.tool_id),
        (Prompt, instance.prompt_id),
        (Resource, instance.resource_id),
    )
    for model, pk in rows:
        if pk is not None:
            model.objects.using(using).filter(pk=pk).delete()
    servers = UpstreamServer._base_manager.using(using)
    servers.filter(pk=instance.server_id).update(discovered_hash="")


pre_delete.connect(_remove_rows, sender=UpstreamServer, dispatch_uid="remove-upstream-rows")
post_delete.connect(_look_again, sender=UpstreamItem, dispatch_uid="discover-upstream-again")
