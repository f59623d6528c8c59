"""The form of a periodic task: only tasks that exist, with arguments that are JSON."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Any, Final

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django_celery_beat.models import PeriodicTask
from typing_extensions import override
from unfold.widgets import UnfoldAdminSelectWidget

from tools.admin.guarded_form import GuardedForm
from tools.admin.json_fields import JsonTextarea

# Set by the configuration of the service; see controlplane/beat.py.
HEALTH_CHECKS: Final = "health-checks"
FOLLOWS: Final = (
    "Set by monitoring.health_check_interval of the service configuration, which it follows."
)


@cache
def celery_app() -> Any:
    """The application with all its tasks; loaded by who needs it."""
    app = import_module(settings.CELERY_APPLICATION).app
    app.loader.import_default_modules()
    return app


def known_tasks() -> list[str]:
    """The tasks of this program, by name."""
    return sorted(name for name in celery_app().tasks if not name.startswith("celery."))


def own_entries() -> frozenset[str]:
    """The entries that the beat puts on the schedule by itself."""
    return frozenset(celery_app().conf.beat_schedule)


class PeriodicTaskForm(GuardedForm):
    """An entry of the schedule."""

    task = forms.ChoiceField(
        widget=UnfoldAdminSelectWidget, help_text="What is done; one of the program's tasks."
    )

    class Meta:
        model = PeriodicTask
        fields = (
            *("name", "task", "enabled", "description"),
            *("interval", "crontab", "clocked", "solar"),
            *("one_off", "start_time", "expire_seconds", "args", "kwargs", "queue"),
        )
        widgets = {"args": JsonTextarea, "kwargs": JsonTextarea}

    @override
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields.get("task")
        if isinstance(field, forms.ChoiceField):
            field.choices = [("", "Choose"), *((name, name) for name in known_tasks())]

    def clean_args(self) -> str:
        """Raises ValidationError."""
        return _json(self.cleaned_data["args"], list, "[]")

    def clean_kwargs(self) -> str:
        """Raises ValidationError."""
        return _json(self.cleaned_data["kwargs"], dict, "{}")


def _json(text: str, kind: type, empty: str) -> str:
    try:
        value = json.loads(text or empty)
    except ValueError as fault:
        raise ValidationError(f"Not valid JSON: {fault}.") from fault
    if not isinstance(value, kind):
        raise ValidationError(f"Must be a JSON {'list' if kind is list else 'object'}.")
    return text or empty
