"""Checks shared by JSON fields."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError

from tools.conf import value_faults


def json_value(value: Any) -> None:
    """Refuse what a database cannot keep as JSON: NaN, NUL characters, endless nesting."""
    faults = value_faults(value)
    if faults:
        raise ValidationError(faults)


def json_list(value: Any) -> None:
    """Refuse anything but a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError('Must be a list of texts, such as ["a", "b"].')
    json_value(value)


def json_object(value: Any) -> None:
    """Refuse anything but a JSON object."""
    if not isinstance(value, dict):
        raise ValidationError('Must be a JSON object, such as {"version": "1.0"}.')
    json_value(value)
