"""Days that a text names, absolutely or counted from today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
_MONTH: Final = "|".join(
    f"{name[:3]}(?:{name[3:]})?" if name != "may" else name for name in _MONTHS
)
_DAY_NUMBER: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<year>\d{4}))?"
_ISO: Final = re.compile(r"(?<![\w-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\w-])")
_DAY_FIRST: Final = re.compile(
    rf"(?<!\w){_DAY_NUMBER}\s+(?:of\s+)?(?P<month>{_MONTH})\b{_YEAR}", re.IGNORECASE
)
_MONTH_FIRST: Final = re.compile(
    rf"\b(?P<month>{_MONTH})\.?\s+{_DAY_NUMBER}(?!\w){_YEAR}", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(
    rf"\b(?:(?P<next>next|coming)\s+|this\s+)?(?P<name>{'|'.join(_WEEKDAYS)})\b(?!['’]s)",
    re.IGNORECASE,
)
_COUNTED: Final = re.compile(r"\bin\s+(?P<count>\d{1,3})\s+(?P<unit>day|week)s?\b", re.IGNORECASE)
_NEAR: Final = re.compile(
    r"\b(?P<word>day after tomorrow|tomorrow|today|tonight|yesterday|next week)\b", re.IGNORECASE
)
_OFFSETS: Final = {
    "day after tomorrow": 2,
    "tomorrow": 1,
    "today": 0,
    "tonight": 0,
    "yesterday": -1,
    "next week": 7,
}


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day and where the text names it."""

    day: date
    start: int
    end: int


def named_days(text: str, today: date) -> list[NamedDay]:
    """The days of a text, in order; where two readings overlap, the one found first."""
    found: list[NamedDay] = []
    for one in _readings(text, today):
        if all(one.end <= other.start or one.start >= other.end for other in found):
            found.append(one)
    return sorted(found, key=lambda one: one.start)


def _readings(text: str, today: date) -> Iterator[NamedDay]:
    for match in _ISO.finditer(text):
        yield from _made(match, int(match[1]), int(match[2]), int(match[3]))
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text):
            month = [name[:3] for name in _MONTHS].index(match["month"][:3].lower()) + 1
            year = int(match["year"]) if match["year"] else _coming(today, month, int(match["day"]))
            yield from _made(match, year, month, int(match["day"]))
    for match in _NEAR.finditer(text):
        yield from _from_today(match, today, _OFFSETS[match["word"].lower()])
    for match in _COUNTED.finditer(text):
        days = int(match["count"]) * (7 if match["unit"].lower() == "week" else 1)
        yield from _from_today(match, today, days)
    for match in _WEEKDAY.finditer(text):
        # The same weekday is a week ahead; "next" says no more than that it is to come.
        ahead = (_WEEKDAYS.index(match["name"].lower()) - today.weekday()) % 7 or 7
        yield from _from_today(match, today, ahead)


def _coming(today: date, month: int, day: int) -> int:
    """The year of a day without one: the first that has not passed."""
    return today.year + ((month, day) < (today.month, today.day))


def _made(match: re.Match[str], year: int, month: int, day: int) -> Iterator[NamedDay]:
    try:
        yield NamedDay(date(year, month, day), match.start(), match.end())
    except ValueError:
        return


def _from_today(match: re.Match[str], today: date, days: int) -> Iterator[NamedDay]:
    try:
        yield NamedDay(today + timedelta(days=days), match.start(), match.end())
    except OverflowError:
        return
