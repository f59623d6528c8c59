"""The short form of a page of animals: totals, and for as many rows as fit who each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.context.cutter import REPORT_KEY
from tools.context.forms import Forms, NotOfThisKind, text_of
from tools.context.measure import length
from tools.context.omissions import Omission, report

ROW_LISTS: Final = ("animals", "results", "records", "Results")
IDENTIFIERS: Final = frozenset({"lpnid", "id", "animalid"})
# Compared without case and underscores: NSIP, its client and older answers spell them differently.
TELLING: Final = IDENTIFIERS | {
    "name",
    "regnumber",
    "registrationnumber",
    "sex",
    "gender",
    "status",
    "dob",
    "dateofbirth",
    "birthdate",
}
LARGEST_ASIDE: Final = 400


def nsip_page(data: Any, metadata: bool) -> Forms:
    """Forms of a page of progeny or of found animals: with one row, two, and so on to all."""
    key, rows = _rows(data)
    aside = {
        name: value
        for name, value in data.items()
        if name != key and length(value, LARGEST_ASIDE) <= LARGEST_ASIDE
    }
    told = [telling(row) for row in rows]
    shorter = [
        Omission((key, place), len(short), len(row), "keys")
        for place, (short, row) in enumerate(zip(told, rows, strict=True))
    ]

    def build(form: int) -> dict[str, Any]:
        number = form + 1
        left_out = [one for one in shorter[:number] if one.kept < one.total]
        if number < len(rows):
            left_out.append(Omission((key,), number, len(rows), "items", leading=number))
        page = {**aside, key: told[:number]}
        return {**page, REPORT_KEY: report(left_out, 2, cursors=True)} if left_out else page

    keep = tuple("$." + name.replace(".", "\\.") for name in aside if name)
    return Forms(len(rows) - 1, build, keep)


def telling(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that say which animal it is, under their own names; empty ones say nothing."""
    return {
        key: value
        for key, value in row.items()
        if value not in (None, "") and _plain(key) in TELLING
    }


def _rows(data: Any) -> tuple[str, list[Mapping[str, Any]]]:
    found = [key for key in ROW_LISTS if isinstance(data, Mapping) and data.get(key)]
    rows = data[found[0]] if found else None
    if not isinstance(rows, list) or not all(_is_animal(row) for row in rows):
        raise NotOfThisKind("a page has rows, and each has an identifier")
    return found[0], rows


def _is_animal(row: Any) -> bool:
    return isinstance(row, Mapping) and any(
        text_of(value) and _plain(key) in IDENTIFIERS
        for key, value in row.items()
        if not isinstance(value, Mapping)
    )


def _plain(name: Any) -> str:
    return str(name).lower().replace("_", "")
