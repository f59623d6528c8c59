"""The request log: one narrow row per call, and the capped body of its answer beside it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from typing_extensions import override

from tools.contracts import FINAL_STATES, CallState, Transport, advance
from tools.errors import CallStatus, ErrorCode
from tools.models.catalog import Tool
from tools.models.journal_events import JournalManager

# Sorted: a set has no order, and the migration must not depend on one.
FINAL = sorted(state.value for state in FINAL_STATES)
# From here on a call is slow: such calls have an index of their own.
SLOW_MS = 1000.0


class ToolRequest(models.Model):
    """One call, refusals included.

    `call_id` is ours, one per call and ordered by arrival; `request_id` is what the caller sent or
    was given, and may come twice when a caller repeats itself. On PostgreSQL the table is
    partitioned by day of `received_at`.
    """

    call_id = models.UUIDField(primary_key=True, editable=False)
    request_id = models.UUIDField(db_index=True, editable=False)
    correlation_id = models.CharField(max_length=128, blank=True, editable=False)
    thread_id = models.CharField(max_length=128, blank=True, editable=False)
    # By name and without a constraint: calls of unknown and of since deleted tools are kept too.
    tool = models.ForeignKey(
        Tool,
        to_field="name",
        db_column="tool_name",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="requests",
    )
    source = models.CharField(max_length=16, blank=True, editable=False)
    transport = models.CharField(
        max_length=16, choices=[(item.value, item.value) for item in Transport]
    )
    caller = models.CharField(max_length=140, editable=False)
    state = models.CharField(
        max_length=12,
        choices=[(item.value, item.value) for item in CallState],
        default=CallState.RECEIVED.value,
    )
    status = models.CharField(
        max_length=8, blank=True, choices=[(item.value, item.value) for item in CallStatus]
    )
    code = models.CharField(
        max_length=24, blank=True, choices=[(item.value, item.value) for item in ErrorCode]
    )
    error = models.TextField(blank=True, editable=False)
    parameters = models.JSONField(default=dict, editable=False)
    query_text = models.TextField(blank=True, editable=False)
    received_at = models.DateTimeField(editable=False)
    deadline_at = models.DateTimeField(editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    duration_ms = models.FloatField(null=True, editable=False)
    stages = models.JSONField(default=dict, editable=False)
    cache_hit = models.BooleanField(null=True, editable=False)
    request_bytes = models.PositiveIntegerField(default=0, editable=False)
    response_bytes = models.PositiveIntegerField(null=True, editable=False)
    tokens_before = models.PositiveIntegerField(null=True, editable=False)
    tokens_after = models.PositiveIntegerField(null=True, editable=False)

    objects = JournalManager()

    class Meta:
        ordering = ("-received_at", "-call_id")
        indexes = (
            models.Index(fields=["-received_at", "-call_id"], name="journal_by_arrival"),
            models.Index(fields=["tool", "-received_at"], name="journal_by_tool"),
            models.Index(fields=["caller", "-received_at"], name="journal_by_caller"),
            # Of the calls that have one; a caller may send the same one with everything it does.
            models.Index(
                fields=["correlation_id", "-received_at"],
                condition=~Q(correlation_id=""),
                name="journal_correlated",
            ),
            models.Index(
                fields=["thread_id", "-received_at"],
                condition=~Q(thread_id=""),
                name="journal_by_thread",
            ),
            # What people look for and what is rare: only such calls pay for these.
            models.Index(
                fields=["-received_at", "-call_id"],
                condition=~Q(code=""),
                name="journal_failures",
            ),
            models.Index(
                fields=["-received_at", "-call_id"],
                condition=Q(duration_ms__gte=SLOW_MS),
                name="journal_slow",
            ),
            models.Index(
                fields=["deadline_at"],
                condition=Q(finished_at__isnull=True),
                name="journal_still_open",
            ),
        )
        constraints = (
            # What closing events conflict on; on PostgreSQL this is the primary key.
            models.UniqueConstraint(
                fields=["call_id", "received_at"], name="journal_one_row_per_call"
            ),
            models.CheckConstraint(
                condition=Q(duration_ms__isnull=True) | Q(duration_ms__gte=0),
                name="journal_duration_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(state__in=FINAL, finished_at__isnull=False)
                | ~Q(state__in=FINAL) & Q(finished_at__isnull=True),
                name="journal_final_means_finished",
            ),
            models.CheckConstraint(
                condition=Q(state="completed", status="success", code="")
                | ~Q(state="completed") & ~Q(status="success"),
                name="journal_success_has_no_code",
            ),
        )

    @override
    def __str__(self) -> str:
        return f"{self.tool_id} {self.request_id}"

    def advance(self, following: CallState) -> None:
        """Move to the next state; raises IllegalTransition when it cannot follow."""
        self.state = advance(CallState(self.state), following).value


class ToolResponse(models.Model):
    """The answer of one call, capped, kept as long as its request."""

    request = models.OneToOneField(
        ToolRequest,
        on_delete=models.DO_NOTHING,
        primary_key=True,
        # Partitions of both tables are dropped together; a constraint would scan for each drop.
        db_constraint=False,
        related_name="response",
        db_column="call_id",
    )
    response_id = models.UUIDField(editable=False, help_text="Equal to the request_id.")
    received_at = models.DateTimeField(editable=False)
    body = models.TextField(blank=True, editable=False)
    truncated = models.BooleanField(default=False, editable=False)

    class Meta:
        indexes = (models.Index(fields=["received_at"], name="responses_by_arrival"),)
        constraints = (
            models.UniqueConstraint(
                fields=["request", "received_at"], name="journal_one_body_per_call"
            ),
        )

    @override
    def __str__(self) -> str:
        return str(self.response_id)
