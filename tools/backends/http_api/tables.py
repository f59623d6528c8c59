"""CSV and TSV as a list of objects. Pure."""

from __future__ import annotations

import csv
import io
from typing import Final

_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLE: Final = 65_536


def read_rows(text: str, *, tabs: bool = False) -> list[dict[str, str]] | None:
    """Each row by the names in the first one; None for what is no table.

    Values stay as they are written. A column without a name is called by its number, one with the
    name of an earlier column gets its number behind it.
    """
    delimiter = "\t" if tabs else _delimiter(text[:_SAMPLE])
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = next(rows, [])
        names = _names(header)
        found = []
        for row in rows:
            if not row:
                continue
            while len(names) < len(row):
                names.append(f"column_{len(names) + 1}")
            found.append(dict(zip(names, row, strict=False)))
        return found
    except csv.Error:
        return None


def _names(header: list[str]) -> list[str]:
    names: list[str] = []
    for place, written in enumerate(header, 1):
        name = written.strip() or f"column_{place}"
        names.append(f"{name}_{place}" if name in names else name)
    return names


def _delimiter(sample: str) -> str:
    """The one that the first line has most of."""
    first = next((line for line in sample.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)
