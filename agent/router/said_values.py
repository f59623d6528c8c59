"""Values that a message names: quoted texts, codes, numbers, days, spans of time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Final

from agent.router.dates import named_days
from agent.router.spoken_numbers import COUNTS, counted, spoken_numbers

_QUOTED: Final = re.compile(
    r"\"([^\"\n]{1,1000})\"|“([^”\n]{1,1000})”|«([^»\n]{1,1000})»|`([^`\n]{1,1000})`"
    r"|(?<!\w)['‘]([^\n]{1,1000}?)['’](?!\w)"
)
_CODE: Final = re.compile(
    r"(?<![\w.-])(?=[A-Za-z0-9-]{0,60}\d)(?=[A-Za-z0-9-]{0,60}[A-Za-z])[A-Za-z0-9-]{4,64}(?![\w-])"
)
_NUMBER: Final = re.compile(
    r"(?<![\w.-])#?(-?\d{1,12}(?:\.\d{1,6})?)(st|nd|rd|th)?(?![\w-])(?!\.\d)"
)
_SPAN: Final = re.compile(
    rf"\b(?:(\d{{1,4}})\s*|({'|'.join(COUNTS)})\s+|(?:last|past|previous|an?|one|this)\s+)(minute|min|hour|hr|day|week|month)s?\b",
    re.IGNORECASE,
)
_SPAN_UNITS: Final = {
    "minute": ("m", 1),
    "min": ("m", 1),
    "hour": ("h", 1),
    "hr": ("h", 1),
    "day": ("d", 1),
    "week": ("d", 7),
    "month": ("d", 30),
}


class Kind(StrEnum):
    """What a value looks like."""

    QUOTED = "quoted"
    CODE = "code"
    NUMBER = "number"
    DAY = "day"
    SPAN = "span"


@dataclass(frozen=True, slots=True)
class Value:
    """Something in a message that can be an argument."""

    kind: Kind
    text: str
    start: int
    end: int
    ordinal: bool = False
    marked: bool = False


def found_values(text: str, today: date) -> list[Value]:
    """The values of a text in order; none overlaps another."""
    candidates = [_quoted(match) for match in _QUOTED.finditer(text)]
    candidates += [
        Value(Kind.DAY, one.day.isoformat(), one.start, one.end) for one in named_days(text, today)
    ]
    candidates += [
        Value(Kind.CODE, m.group(), m.start(), m.end())
        for m in _CODE.finditer(text)
        if not _ordinal(m.group())
    ]
    candidates += [_span(match) for match in _SPAN.finditer(text)]
    candidates += [
        Value(Kind.NUMBER, m[1], m.start(), m.end(), bool(m[2]), m.group().startswith("#"))
        for m in _NUMBER.finditer(text)
    ]
    candidates += [Value(Kind.NUMBER, *one) for one in spoken_numbers(text)]
    kept: list[Value] = []
    for one in candidates:
        if all(one.end <= other.start or one.start >= other.end for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda value: value.start)[:200]


def _quoted(match: re.Match[str]) -> Value:
    inner = next(group for group in match.groups() if group is not None)
    return Value(Kind.QUOTED, inner, match.start(), match.end())


def _ordinal(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(?:st|nd|rd|th|am|pm)", text.lower()))


def _span(match: re.Match[str]) -> Value:
    letter, factor = _SPAN_UNITS[match[3].lower()]
    return Value(
        Kind.SPAN, f"{counted(match[1] or match[2]) * factor}{letter}", match.start(), match.end()
    )
