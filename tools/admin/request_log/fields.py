"""Fields of the filters: how what stands in an address, or was typed, becomes a condition."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.text import format_lazy
from typing_extensions import override
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from tools.errors import CallStatus
from tools.selectors.request_log import Cursor, parse_moment

LONGEST_TEXT: Final = 200
NO_TIME: Final = "Not a time. Write it like 2026-03-01T12:30."
# Milliseconds in a day: no call takes longer.
LONGEST_MS: Final = 86_400_000
_zone = lazy(timezone.get_current_timezone_name, str)


def typed(label: str, hint: str = "", most: int = LONGEST_TEXT, **attrs: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=most,
        widget=UnfoldAdminTextInputWidget({"placeholder": hint, "autocomplete": "off", **attrs}),
    )


def is_findable(name: str) -> bool:
    """Whether a filter finds this name: it takes away spaces at both ends, which callers may have sent."""
    return 0 < len(name) <= LONGEST_TEXT and name == name.strip()


def chosen(label: str, choices: Iterable[Any], empty: str = "any") -> forms.ChoiceField:
    listed = [one if isinstance(one, tuple) else (str(one), str(one)) for one in choices]
    return forms.ChoiceField(
        label=label,
        required=False,
        choices=[("", empty), *listed],
        widget=UnfoldAdminSelectWidget(),
        error_messages={"invalid_choice": "There is no %(value)s to choose."},
    )


class Milliseconds(forms.FloatField):
    """A length of time."""

    def __init__(self, label: str) -> None:
        attrs = {"type": "number", "min": "0", "step": "any", "placeholder": "ms"}
        widget = UnfoldAdminTextInputWidget(attrs)
        super().__init__(
            label=label, required=False, min_value=0, max_value=LONGEST_MS, widget=widget
        )


class Moment(forms.Field):
    """A time as browsers write it, or in ISO 8601. Its label names the zone it is read in."""

    def __init__(self, label: str) -> None:
        attrs = {"type": "datetime-local", "step": "any"}
        super().__init__(
            label=format_lazy("{} ({})", label, _zone()),
            required=False,
            widget=UnfoldAdminTextInputWidget(attrs),
        )

    @override
    def to_python(self, value: Any) -> datetime | None:
        if value in self.empty_values:
            return None
        try:
            return parse_moment(value)
        except (ValueError, OverflowError) as fault:
            raise ValidationError(NO_TIME, code="invalid") from fault

    @override
    def bound_data(self, data: Any, initial: Any) -> Any:
        """As the browser's own field takes it, which knows no zones."""
        try:
            moment = self.to_python(data)
        except ValidationError:
            return data
        return "" if moment is None else written(moment)


class Place(forms.Field):
    """Where a page of the log begins."""

    def __init__(self) -> None:
        super().__init__(required=False, widget=forms.HiddenInput())

    @override
    def to_python(self, value: Any) -> Cursor | None:
        if value in self.empty_values:
            return None
        try:
            return Cursor.parse(value)
        except (ValueError, OverflowError) as fault:
            raise ValidationError(NO_TIME, code="invalid") from fault


class Statuses(forms.CharField):
    """How calls ended: one way, or several with commas between them."""

    offered: Final = (
        ("", "any"),
        ("success", "success"),
        ("failure,timeout", "failure or timeout"),
        ("failure", "failure"),
        ("timeout", "timeout"),
    )

    def __init__(self) -> None:
        widget = UnfoldAdminSelectWidget(choices=self.offered)
        super().__init__(label="Status", required=False, max_length=LONGEST_TEXT, widget=widget)

    @override
    def to_python(self, value: Any) -> Any:
        names = tuple(filter(None, str(super().to_python(value)).split(",")))
        wrong = [name for name in names if name not in set(CallStatus)]
        if wrong:
            raise ValidationError(f"There is no status {wrong[0]}.", code="invalid")
        return names


class Truth(forms.NullBooleanField):
    """True or False, in an address only."""

    def __init__(self) -> None:
        super().__init__(required=False, widget=forms.HiddenInput())


def written(moment: datetime) -> str:
    local = timezone.localtime(moment)
    text = f"{local:%Y-%m-%dT%H:%M:%S}"
    return f"{text}.{local.microsecond // 1000:03}" if local.microsecond else text
