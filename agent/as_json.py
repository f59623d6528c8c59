"""JSON that every reader takes, whatever models and tools said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

DEEPEST: Final = 50


def written(value: Any) -> str:
    """The value as JSON. What JSON has no word for, such as NaN, becomes a text."""
    # Escaped: what a tool or a model said may not be writable as UTF-8.
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(value, DEEPEST), allow_nan=False)


def _plain(value: Any, depth: int) -> Any:
    if depth == 0:
        return "(nested too deeply)"
    if isinstance(value, Mapping):
        return {str(name): _plain(one, depth - 1) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, depth - 1) for one in value]
    finite = isinstance(value, float) and isfinite(value)
    kept = value is None or isinstance(value, str | bool) or finite or _is_short(value)
    return value if kept else _named(value)


def _is_short(value: Any) -> bool:
    """Whether it is a whole number that Python agrees to write."""
    return isinstance(value, int) and value.bit_length() < 10_000


def _named(value: Any) -> str:
    names = {float("inf"): "Infinity", float("-inf"): "-Infinity"}
    if isinstance(value, float):
        return names.get(value, "NaN")
    return f"({type(value).__name__})"
