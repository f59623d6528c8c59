"""Days that a text names, absolutely or counted from today."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS: Final = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
MONTH: Final = "|".join(f"{name[:3]}(?:{name[3:]})?" if name != "may" else name for name in MONTHS)
_DAY_NUMBER: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# The day without its month: the first of two, or one that is to come.
_FIRST_OF_TWO: Final = re.compile(
    rf"\b(?:between|from)\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?=\s+(?:and|to|until|till)\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{MONTH})\b)",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(
    r"\b(?:by|on|due|until|till|before|after|for)\s+the\s+(?P<day>\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:of|[a-z])|-)",
    re.IGNORECASE,
)
_YEAR: Final = r"(?:,?\s+(?P<year>\d{4}))?"
_ISO: Final = re.compile(r"(?<![\w-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\w-])")
_DAY_FIRST: Final = re.compile(
    rf"(?<!\w){_DAY_NUMBER}\s+(?:of\s+)?(?P<month>{MONTH})\b{_YEAR}", re.IGNORECASE
)
_MONTH_FIRST: Final = re.compile(
    rf"\b(?P<month>{MONTH})\.?\s+{_DAY_NUMBER}(?!\w){_YEAR}", re.IGNORECASE
)
# What comes back every Monday has no day of its own.
_WEEKDAY: Final = re.compile(
    rf"(?<!\bevery )(?<!\beach )(?<!\bevery other )\b(?:(?P<next>next|coming)\s+|this\s+)?(?P<name>{'|'.join(_WEEKDAYS)})\b(?!['’]s)",
    re.IGNORECASE,
)
_COUNTS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTED: Final = re.compile(
    rf"\bin\s+(?P<count>\d{{1,3}}|an?|{'|'.join(_COUNTS)})\s+(?P<unit>day|week|fortnight)s?\b(?! time)",
    re.IGNORECASE,
)
_FROM_A_DAY: Final = re.compile(
    rf"\b(?:in\s+)?(?P<count>\d{{1,3}}|an?|{'|'.join(_COUNTS)})\s+(?P<unit>day|week|fortnight)s?\s+(?:from|after)\s+(?P<now>now\b)?",
    re.IGNORECASE,
)
_UNITS: Final = {"day": 1, "week": 7, "fortnight": 14}
# In short they are other words as well, such as "sat" and "sun".
_SHORT_WEEKDAY: Final = re.compile(
    r"\b(?:by|on|next|due|until|before|after)\s+(?P<name>mon|tue|wed|thu|fri|sat|sun)(?:s|rs?)?\b\.?(?!\s+\d)",
    re.IGNORECASE,
)
_MONTH_END: Final = re.compile(r"\b(?:the )?end of (?:the|this) month\b", re.IGNORECASE)
_NEAR: Final = re.compile(
    r"\b(?P<word>day after tomorrow|tomm?orr?ow|tmrw|tmr|2morrow|2moro|tomoz|today|tonight|yesterday|next week)\b",
    re.IGNORECASE,
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
    yield from _counted_from_a_day(text, today)
    for match in _ISO.finditer(text):
        yield from _made(match, int(match[1]), int(match[2]), int(match[3]))
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text):
            month = [name[:3] for name in MONTHS].index(match["month"][:3].lower()) + 1
            year = int(match["year"]) if match["year"] else _coming(today, month, int(match["day"]))
            yield from _made(match, year, month, int(match["day"]))
    yield from _without_month(text, today)
    yield from _near(text, today)
    for match in _COUNTED.finditer(text):
        yield from _from_today(match, today, _count(match["count"]) * _UNITS[match["unit"].lower()])
    for match in _MONTH_END.finditer(text):
        yield from _made(match, today.year, today.month, monthrange(today.year, today.month)[1])
    yield from _weekdays(text, today)


def _near(text: str, today: date) -> Iterator[NamedDay]:
    for match in _NEAR.finditer(text):
        # A slip of the keys, or short for it.
        yield from _from_today(match, today, _OFFSETS.get(match["word"].lower(), 1))


def _counted_from_a_day(text: str, today: date) -> Iterator[NamedDay]:
    """`a week from Friday`, `two weeks from now`"""
    bases = {one.start: one for one in (*_near(text, today), *_weekdays(text, today))}
    for match in _FROM_A_DAY.finditer(text):
        days = _count(match["count"]) * _UNITS[match["unit"].lower()]
        if match["now"]:
            yield from _from_today(match, today, days)
        elif base := bases.get(match.end()):
            for one in _from_today(match, base.day, days):
                yield NamedDay(one.day, match.start(), base.end)


def _weekdays(text: str, today: date) -> Iterator[NamedDay]:
    for match in _WEEKDAY.finditer(text):
        # The same weekday is a week ahead; "next" says no more than that it is to come.
        ahead = (_WEEKDAYS.index(match["name"].lower()) - today.weekday()) % 7 or 7
        yield from _from_today(match, today, ahead)
    for match in _SHORT_WEEKDAY.finditer(text):
        short = [name[:3] for name in _WEEKDAYS].index(match["name"].lower())
        ahead = (short - today.weekday()) % 7 or 7
        for one in _from_today(match, today, ahead):
            yield NamedDay(one.day, match.start("name"), one.end)


def _without_month(text: str, today: date) -> Iterator[NamedDay]:
    """`between 20 and 30 November`, `by the 30th`"""
    for match in _FIRST_OF_TWO.finditer(text):
        month = [name[:3] for name in MONTHS].index(match["month"][:3].lower()) + 1
        year = _coming(today, month, int(match["day"]))
        for one in _made(match, year, month, int(match["day"])):
            yield NamedDay(one.day, match.start("day"), one.end)
    for match in _ORDINAL.finditer(text):
        later = int(match["day"]) < today.day
        month, years = today.month % 12 + 1 if later else today.month, later and today.month == 12
        for one in _made(match, today.year + years, month, int(match["day"])):
            yield NamedDay(one.day, match.start("day"), one.end)


def _count(word: str) -> int:
    if word.isdigit():
        return int(word)
    return _COUNTS.index(word.lower()) + 1 if word.lower() in _COUNTS else 1


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
