"""Names for files, classes, parameters and options, made from names that can be anything."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST: Final = 80
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_ODD: Final = re.compile(r"[^A-Za-z0-9_]+")
RESERVED: Final = frozenset({*keyword.kwlist, "self"})


class Names:
    """Hands out each name once, whatever the case: some file systems see no difference."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.casefold() for name in taken}
        self._numbers: dict[str, int] = {}

    def free(self, wanted: str, otherwise: str) -> str:
        """`wanted`; where that is taken `otherwise`, with a number if need be."""
        # Where the last search ended: many may want the same.
        number, candidate = self._numbers.get(otherwise.casefold(), 1), wanted
        while candidate.casefold() in self._taken:
            candidate = otherwise if number == 1 else f"{otherwise}{number}"
            number += 1
            self._numbers[otherwise.casefold()] = number
        self._taken.add(candidate.casefold())
        return candidate


def words(text: str) -> list[str]:
    """The words in `text`, in ASCII: `maxDepth`, `max_depth` and `max depth` have two."""
    return _WORDS.findall(_plain(text)[: 2 * LONGEST])


def identifier(text: str, fallback: str) -> str:
    """`text` as a name of Python and TypeScript, as it is where it can be one."""
    # Two underscores in front mean something to Python.
    name = _ODD.sub("_", _plain(text)).strip("_")[:LONGEST].rstrip("_")
    if not name:
        return fallback
    return name if not name[0].isdigit() else f"{fallback}_{name}"


def kebab(text: str, fallback: str) -> str:
    """`max_depth` and `maxDepth` as `max-depth`."""
    return "-".join(word.lower() for word in words(text))[:LONGEST].strip("-") or fallback


def camel_to_snake(text: str) -> str:
    """`maxDepth` as `max_depth`."""
    return "_".join(word.lower() for word in words(text))


def snake_to_camel(text: str) -> str:
    """`max_depth` as `maxDepth`."""
    first, *rest = words(text) or [""]
    return first.lower() + "".join(word.capitalize() for word in rest)


def upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def class_name(text: str, fallback: str = "Service") -> str:
    """`code-graph-rag` as `CodeGraphRag`."""
    name = "".join(upper_first(word.lower()) for word in words(text))[:LONGEST]
    if not name:
        return fallback
    return name if not name[0].isdigit() else f"{fallback}{name}"


def _plain(text: str) -> str:
    """`text` without accents and without what has no place in ASCII."""
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(one for one in decomposed if not unicodedata.combining(one))
    return kept.encode("ascii", "replace").decode().replace("?", "_")
