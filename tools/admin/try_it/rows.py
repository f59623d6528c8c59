"""Adding and removing rows of lists, for browsers whose script does not run."""

from __future__ import annotations

from collections.abc import Mapping

from tools.admin.try_it.fields import ROWS, is_row


def change_rows(data: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """`data` with the row that was asked for, or without the one that was not wanted any more."""
    changed = dict(data)
    for address in data.get("_add", ()):
        numbers = [int(one) for one in data.get(ROWS + address, ()) if is_row(one)]
        changed[ROWS + address] = [str(one) for one in (*numbers, max(numbers, default=-1) + 1)]
    for address in data.get("_remove", ()):
        around, _, number = address.rpartition("/")
        rows = data.get(ROWS + around, ())
        changed[ROWS + around] = [one for one in rows if one != number]
    return changed
