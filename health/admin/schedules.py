"""The times that periodic tasks can be due at: intervals, crontabs, moments, events of the sun."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from typing_extensions import override
from unfold.admin import ModelAdmin, TabularInline

from tools.admin.guarded_form import GuardedForm

# Their package has pages of its own, which are not in the theme.
for _model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)

TIMES = ("interval", "crontab", "solar", "clocked")


class TasksInline(TabularInline):
    """The tasks that are due at these times."""

    model = PeriodicTask
    fields = readonly_fields = ("name", "task", "enabled")
    extra = 0
    can_delete = False
    show_change_link = True
    verbose_name_plural = "Tasks on it"

    @override
    def get_queryset(self, request: HttpRequest) -> Any:
        """With their times, which are in the name of each."""
        return super().get_queryset(request).select_related(*TIMES)

    @override
    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class TimesAdmin(ModelAdmin):
    """Deleting one deletes the tasks on it, so only those that are not used can be."""

    form = GuardedForm
    inlines = (TasksInline,)
    list_before_template = "health/admin/schedule_links.html"

    @override
    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.periodictask_set.exists():
            return False
        return bool(super().has_delete_permission(request, obj))

    @override
    def get_actions(self, request: HttpRequest) -> Any:
        """None of them deletes several at once: some may be used."""
        return {}


@admin.register(IntervalSchedule)
class IntervalScheduleAdmin(TimesAdmin):
    """Every so often."""

    list_display = ("__str__", "every", "period")


@admin.register(CrontabSchedule)
class CrontabScheduleAdmin(TimesAdmin):
    """As cron has it."""

    list_display = ("__str__", "human_readable")


@admin.register(ClockedSchedule)
class ClockedScheduleAdmin(TimesAdmin):
    """Once, at a time."""

    list_display = ("clocked_time",)


@admin.register(SolarSchedule)
class SolarScheduleAdmin(TimesAdmin):
    """With the sun."""

    list_display = ("event", "latitude", "longitude")
