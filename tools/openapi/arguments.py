"""Names of arguments: as the API has them where models can use them, unique over all places."""

from __future__ import annotations

import re
from typing import Final

from tools.openapi.names import ascii_text, digest
from tools.operations import Place

LONGEST_NAME: Final = 64
_USABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
# Fields are parts of the body; that is what callers know them as.
_SUFFIX: Final = {Place.FIELD: "body"}


def usable(name: str) -> str:
    """`name` itself, or a cleaned form of it."""
    if _USABLE.fullmatch(name):
        return name
    cleaned = re.sub(r"[^A-Za-z0-9_.-]+", "_", ascii_text(name)).strip("_.-")
    if not cleaned:
        return f"arg_{digest(name)}"
    if cleaned[0].isdigit():
        cleaned = f"_{cleaned}"
    if len(cleaned) > LONGEST_NAME:
        cleaned = f"{cleaned[: LONGEST_NAME - 7]}_{digest(name)}"
    return cleaned


class ArgumentNames:
    """Gives each parameter of one operation a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str, place: Place) -> str:
        """A free name: `id`, else `id_query`, else `id_query_2` and so on."""
        wanted = usable(name)
        suffix = _SUFFIX.get(place, place.value)
        found, number = wanted, 1
        while found in self._taken:
            ending = f"_{suffix}" if number == 1 else f"_{suffix}_{number}"
            found = wanted[: LONGEST_NAME - len(ending)] + ending
            number += 1
        self._taken.add(found)
        return found
