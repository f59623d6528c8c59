"""Columns and fields that are worked out once for a row; the theme asks for each several times."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


def once_a_row(shown: _Method) -> _Method:
    """Keep what a method of an admin shows of a row with the row, which lives as long as its page."""

    @wraps(shown)
    def kept(admin: Any, row: Any) -> Any:
        found: dict[str, Any] = row.__dict__.setdefault("_shown_once", {})
        if shown.__name__ not in found:
            found[shown.__name__] = shown(admin, row)
        return found[shown.__name__]

    # It takes and gives what the method does.
    return kept  # type: ignore[return-value] # as the comment above says
