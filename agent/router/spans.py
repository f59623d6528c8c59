"""Spans of days that a text names: this week, next month, by Friday, overdue.

A tool that makes something takes a day; one that lists may take the two ends between which days lie.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from agent.router.dates import MONTH, MONTHS, NamedDay

_WEEK: Final = 7
_SATURDAY: Final = 5
_PERIOD: Final = re.compile(
    r"\b(?P<which>this|next|last|coming|rest of the|rest of this) (?P<unit>week(?:end)?|month)\b"
    r"|\b(?:in|over|within) the (?:next|coming) (?P<count>\d{1,3}) (?P<counted>day|week)s?\b",
    re.IGNORECASE,
)
_MONTH_NAMED: Final = re.compile(
    rf"\b(?P<side>in|for|during|before|since|until|till|after) (?P<month>{MONTH})\b(?!\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b)(?: (?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(
    r"\b(?P<side>in|during|since|from|after|before) (?P<year>(?:19|20)\d\d)\b(?![-\w])",
    re.IGNORECASE,
)
_LATE: Final = re.compile(
    r"\boverdue\b|\bpast (?:due|(?:its|their|the) (?:due )?(?:date|deadline))\b"
    r"|\bare late\b",
    re.IGNORECASE,
)
# What stands before a day that is only the last of several.
_UP_TO: Final = re.compile(
    r"\b(?:by|no later than|up to)\s+(?:the\s+)?(?:end of\s+)?$", re.IGNORECASE
)
# What stands before one end of a span that is given otherwise.
_ENDS: Final = re.compile(
    r"\b(?:before|after|since|until|till|from|between|and|to|later than|earlier than)\s+(?:the\s+)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Days from the first to the last, both counted; None: open to that side."""

    first: date | None
    last: date | None
    start: int
    end: int


def day_spans(text: str, today: date, days: Sequence[NamedDay]) -> tuple[DaySpan, ...]:
    """The spans of a text, in order. A day alone is one of a single day."""
    try:
        found = [*_late(text, today), *_periods(text, today)]
    except (OverflowError, ValueError):
        return ()
    for one in days:
        before = text[max(0, one.start - 30) : one.start]
        held = any(span.start <= one.start < span.end for span in found)
        # "2 to 5 May" is told by its ends.
        if held or _ENDS.search(before) or re.match(r"\s+or\b", text[one.end :]):
            continue
        first = None if _UP_TO.search(before) else one.day
        found.append(DaySpan(first, one.day, one.start, one.end))
    return tuple(sorted(found, key=lambda span: span.start))


def _late(text: str, today: date) -> Iterator[DaySpan]:
    for match in _LATE.finditer(text):
        yield DaySpan(None, today - timedelta(days=1), match.start(), match.end())


def _periods(text: str, today: date) -> Iterator[DaySpan]:
    for match in _PERIOD.finditer(text):
        if match["count"]:
            weeks = match["counted"].lower() == "week"
            days = int(match["count"]) * (_WEEK if weeks else 1)
            first, last = today, today + timedelta(days=days)
        else:
            first, last = _named(match["which"].lower(), match["unit"].lower(), today)
        yield DaySpan(first, last, match.start(), match.end())

    for match in _MONTH_NAMED.finditer(text):
        month = [name[:3] for name in MONTHS].index(match["month"][:3].lower()) + 1
        year = int(match["year"] or today.year + (month < today.month))
        last = date(year, month, monthrange(year, month)[1])
        yield _sided(match["side"].lower(), date(year, month, 1), last, match)
    for match in _YEAR.finditer(text):
        yield _year(match["side"].lower(), int(match["year"]), match)


def _year(side: str, year: int, match: re.Match[str]) -> DaySpan:
    return _sided(side, date(year, 1, 1), date(year, 12, 31), match)


def _sided(side: str, first: date, last: date, match: re.Match[str]) -> DaySpan:
    """The span itself, or what lies before or behind it."""
    ends: dict[str, tuple[date | None, date | None]] = {
        "since": (first, None),
        "from": (first, None),
        "after": (last + timedelta(days=1), None),
        "before": (None, first - timedelta(days=1)),
        "until": (None, last),
        "till": (None, last),
    }
    return DaySpan(*ends.get(side, (first, last)), match.start(), match.end())


def _named(which: str, unit: str, today: date) -> tuple[date, date]:
    """The ends of this, the next or the last week, weekend or month."""
    step = {"next": 1, "coming": 1, "last": -1}.get(which, 0)
    if unit == "month":
        first = _month(today, step)
        last = first + timedelta(days=monthrange(first.year, first.month)[1] - 1)
    else:
        # The coming weekend is the one of this week.
        ahead = 0 if which == "coming" and unit == "weekend" else step
        monday = today + timedelta(days=_WEEK * ahead - today.weekday())
        first = monday + timedelta(days=_SATURDAY if unit == "weekend" else 0)
        last = monday + timedelta(days=_WEEK - 1)
    return (today if which.startswith("rest") else first), last


def _month(today: date, step: int) -> date:
    """The first day of a month near by."""
    count = today.year * 12 + today.month - 1 + step
    return date(count // 12, count % 12 + 1, 1)
