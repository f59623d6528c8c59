"""The best of many: those with the highest number in a field."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_K = TypeVar("_K")


def best(
    entries: Sequence[tuple[_K, Any]], by: str, count: int, floor: float | None = None
) -> list[tuple[_K, Any]]:
    """The `count` entries with the highest number in `by`, best first; ties in their order.

    An entry without such a number counts as 0. With a `floor` those below it go. `by` may be a
    path, joined by dots; an empty one stands for the value itself.
    """
    numbered = [
        (number_at(value, by), -place, (key, value)) for place, (key, value) in enumerate(entries)
    ]
    good = [entry for entry in numbered if floor is None or entry[0] >= floor]
    return [entry[2] for entry in heapq.nlargest(count, good, key=lambda entry: entry[:2])]


def number_at(value: Any, by: str) -> float:
    """The number at the path `by` in `value`, 0 where there is none."""
    for step in by.split(".") if by else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return value if isinstance(value, int) or math.isfinite(value) else 0
