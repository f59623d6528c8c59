"""The box by which a row of a list is chosen, written without the theme's template for each row."""

from __future__ import annotations

from functools import cache
from typing import Final

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.utils.safestring import SafeString, mark_safe
from unfold.admin import checkbox

# Stands for the key of a row in the box that is kept.
_KEY: Final = "KEY-OF-THE-ROW"


def row_checkbox(key: int) -> SafeString:
    """What the theme draws for the row of this key."""
    return mark_safe(_drawn().replace(_KEY, str(key)))  # noqa: S308 - the theme's own, and a number


@cache
def _drawn() -> str:
    return str(checkbox.render(ACTION_CHECKBOX_NAME, _KEY))
