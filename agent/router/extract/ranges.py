"""Limits of measures that are said by their names: `BWT between -0.5 and 0.2`, `WWT of at least 3`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.router.extract.taken import Taken
from agent.router.parameters import Parameter, Type
from agent.router.said_values import Kind

_NUMBER: Final = r"(-?\d{1,9}(?:\.\d{1,6})?)"
_BETWEEN: Final = re.compile(
    rf"(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}", re.IGNORECASE
)
_LEAST: Final = re.compile(
    rf"(?:at least|no less than|(?:a )?min(?:imum)?(?: of)?|over|above|more than|greater than|higher than|>=?)\s*{_NUMBER}"
    rf"|{_NUMBER}\s+(?:or|and) (?:more|above|over|higher|up)\b",
    re.IGNORECASE,
)
_MOST: Final = re.compile(
    rf"(?:at most|no more than|(?:a )?max(?:imum)?(?: of)?|under|below|less than|lower than|up to|<=?)\s*{_NUMBER}"
    rf"|{_NUMBER}\s+(?:or|and) (?:less|below|under|lower)\b",
    re.IGNORECASE,
)
# A measure is said by its code, in capitals.
_MEASURE: Final = re.compile(
    r"\b(?P<name>[A-Z][A-Z0-9]{1,11})\b(?:\s+EBVs?)?(?:\s+values?)?(?:\s*[:,])?\s+(?:(?:of|is|that is|with|in|lies|being)\s+)?"
)
ENDS: Final = frozenset({"min", "max"})


def take_ranges(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """Take the limits that the message sets, for a parameter that takes such by name."""
    for one in wanted:
        if one.type is not Type.OBJECT or not _takes_limits(one.schema):
            continue
        found: dict[str, dict[str, float]] = {}
        for match in _MEASURE.finditer(taken.message.text):
            limits, end = _limits(taken.message.text, match.end())
            if limits:
                found[match["name"]] = limits
                taken.cue(one.name, match.start(), end)
                inside = (v for v in taken.free(Kind.NUMBER) if match.start() <= v.start < end)
                taken.used.extend(inside)
        if found:
            taken.take(one.name, found)


def _takes_limits(schema: Mapping[str, Any]) -> bool:
    each = schema.get("additionalProperties")
    inner = each.get("properties") if isinstance(each, Mapping) else None
    return isinstance(inner, Mapping) and set(inner) >= ENDS


def _limits(text: str, place: int) -> tuple[dict[str, float], int]:
    """The limits that stand at a place, and where they end."""
    if both := _BETWEEN.match(text, place):
        low, high = sorted((float(both[1]), float(both[2])))
        return {"min": low, "max": high}, both.end()
    for end, pattern in (("min", _LEAST), ("max", _MOST)):
        if one := pattern.match(text, place):
            return {end: float(one[1] or one[2])}, one.end()
    return {}, place
