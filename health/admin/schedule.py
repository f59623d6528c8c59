"""The schedule of the beat in the admin: what is done when, and doing it now."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django_celery_beat.models import PeriodicTask, PeriodicTasks
from typing_extensions import override
from unfold.admin import ModelAdmin

from health.admin import schedules
from health.admin.schedule_form import (
    FOLLOWS,
    HEALTH_CHECKS,
    PeriodicTaskForm,
    celery_app,
    known_tasks,
    own_entries,
)
from tools.admin.texts import badge, moment, plural
from tools.services.audit.receivers import watched_update

__all__ = ["PeriodicTaskAdmin", "schedules"]

logger = logging.getLogger(__name__)

TIMES: Final = ("interval", "crontab", "clocked", "solar")
# A message nobody takes up within this time is not worth taking up.
RUN_SECONDS: Final = 60


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(ModelAdmin):
    """What the beat has workers do, and when."""

    form = PeriodicTaskForm
    list_display = ("name", "task_name", "when", "state", "last_run", "runs")
    list_display_links = ("name",)
    list_filter = ("enabled",)
    search_fields = ("name", "task")
    ordering = ("name",)
    list_select_related = TIMES
    actions = ("run_now", "enable", "disable")
    list_before_template = "health/admin/schedule.html"
    change_form_outer_before_template = "health/admin/schedule_entry.html"
    warn_unsaved_form = True
    readonly_fields = ("when", "last_run", "runs")
    fieldsets = (
        (None, {"fields": ("name", "task", "enabled", "description")}),
        ("When", {"fields": (*TIMES, "one_off", "start_time", "expire_seconds")}),
        ("With what", {"fields": ("args", "kwargs", "queue")}),
        ("State", {"fields": ("last_run", "runs")}),
    )

    @override
    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The program knows its own entries by name; the one of health checks follows the service."""
        if obj is None or obj.name not in own_entries():
            return self.readonly_fields
        return (*self.readonly_fields, "name", "task")

    @override
    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.fieldsets[:-1]
        if obj.name != HEALTH_CHECKS:
            return self.fieldsets
        times = ("When", {"fields": ("when",), "description": FOLLOWS})
        return (self.fieldsets[0], times, self.fieldsets[-1])

    @override
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        entry = self.get_object(request, object_id)
        own = entry is not None and entry.name in own_entries()
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), "own_entry": own}
        )

    @admin.action(description="Run selected tasks now", permissions=["change"])
    def run_now(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        """Hand them to the workers, besides what the schedule does."""
        tasks, sent = celery_app().tasks, []
        for entry in queryset:
            if entry.task not in tasks:
                self.message_user(
                    request, f"{entry.name}: there is no task {entry.task}.", messages.ERROR
                )
                continue
            try:
                _send(tasks[entry.task], entry)
            except Exception as fault:  # noqa: BLE001 - whatever the broker raises
                logger.warning("A task cannot be sent: %s", type(fault).__name__)
                told = f"{entry.name}: no worker can be asked. Is Redis running?"
                self.message_user(request, told, messages.ERROR)
            else:
                sent.append(entry.name)
        if sent:
            told = f"Handed to the workers: {', '.join(sent)}. What comes of it is in their log."
            self.message_user(request, told, messages.SUCCESS)

    @admin.action(description="Enable selected tasks", permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        self._switch(request, queryset, on=True)

    @admin.action(description="Disable selected tasks", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        self._switch(request, queryset, on=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[PeriodicTask], *, on: bool) -> None:
        count = watched_update(queryset, enabled=on, last_run_at=None)
        # Tells a running beat to read its schedule again.
        PeriodicTasks.update_changed()
        told = f"{plural(count, 'task')} {'enabled' if on else 'disabled'}."
        self.message_user(request, told, messages.SUCCESS)

    @admin.display(description="Task", ordering="task")
    def task_name(self, entry: Any) -> SafeString | str:
        if entry.task in known_tasks():
            return str(entry.task)
        return format_html("{} {}", entry.task, badge("does not exist", "danger"))

    @admin.display(description="When")
    def when(self, entry: Any) -> str:
        return str(entry.scheduler or "-")

    @admin.display(description="State", ordering="enabled")
    def state(self, entry: Any) -> SafeString:
        return badge("on", "success") if entry.enabled else badge("off", "warning")

    @admin.display(description="Last sent", ordering="last_run_at")
    def last_run(self, entry: Any) -> SafeString | str:
        return moment(entry.last_run_at)

    @admin.display(description="Times sent", ordering="total_run_count")
    def runs(self, entry: Any) -> str:
        return f"{entry.total_run_count:,}"


def _send(task: Any, entry: Any) -> None:
    task.apply_async(
        args=json.loads(entry.args or "[]"),
        kwargs=json.loads(entry.kwargs or "{}"),
        queue=entry.queue or None,
        expires=RUN_SECONDS,
        retry_policy={"max_retries": 1, "interval_start": 0},
    )
