"""Adding and removing rows of lists, for browsers whose script does not run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.admin.try_it.fields import MOST_SENT, ROWS, Field, Flat, build, is_row
from tools.admin.try_it.kinds import Kind


def change_rows(schema: Any, data: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """`data` with the row that was asked for, or without the one that was not wanted any more."""
    changed = dict(data)
    for address in data.get("_add", ()):
        numbers = [int(one) for one in data.get(ROWS + address, ()) if is_row(one)]
        following = str(max(numbers, default=-1) + 1)
        changed[ROWS + address] = [*map(str, numbers), following]
        changed |= _begun(schema, data, address, following)
    for address in data.get("_remove", ()):
        around, _, number = address.rpartition("/")
        rows = data.get(ROWS + around, ())
        changed[ROWS + around] = [one for one in rows if one != number]
    return changed


def _begun(schema: Any, data: Flat, address: str, number: str) -> dict[str, list[str]]:
    """What is in a new row of the list at `address`: what is in the one the script would copy."""
    form = build(schema, data, MOST_SENT)
    blank = next((one.blank for one in form.walk() if one.address == address), None)
    if blank is None:
        return {}
    filled = (_filled(one) for one in blank.walk() if one.kind is not Kind.OBJECT)
    return {name.replace(blank.row_number, number): value for name, value in filled}


def _filled(one: Field) -> tuple[str, list[str]]:
    if one.kind is Kind.LIST:
        return ROWS + one.address, [child.row_number for child in one.children]
    return one.address, [one.value]
