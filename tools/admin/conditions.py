"""When a form shows a field, in the words that the theme's scripts understand."""

from __future__ import annotations


def when(field: str, test: str) -> str:
    """For `conditional_fields`: `field` passes `test`, or can only be read and tells no value."""
    return f"typeof {field} === 'undefined' || {field} {test}"
