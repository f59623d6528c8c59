"""Names of tools: from `operationId`, else method and path; the same whatever the order of the document."""

from __future__ import annotations

import hashlib
import keyword
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

LONGEST_NAME: Final = 64
LONGEST_PREFIX: Final = 32
_MARK: Final = 6
_PREFIX: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|")


def check_prefix(prefix: str) -> None:
    """Raises ValueError for what tool names cannot start with."""
    if len(prefix) > LONGEST_PREFIX or not _PREFIX.fullmatch(prefix):
        raise ValueError(
            f"The prefix must be letters, digits and underscores, at most {LONGEST_PREFIX}, "
            "and not start with a digit"
        )


def ascii_text(text: str) -> str:
    """`text` with accents taken off and everything else that is not ASCII left out."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def digest(text: str, length: int = _MARK) -> str:
    """A short mark that only depends on `text`."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]


def snake_case(text: str) -> str:
    """`listPets`, `pets/list-all` and `HTMLPage` as `list_pets`, `pets_list_all` and `html_page`."""
    text = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", ascii_text(text))
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text)
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()


def tool_names(stated: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The name of each operation by its key, from the `operationId` it states or an empty text.

    Operations whose names would be the same all get a mark of their own, so that none depends on
    which one comes first.
    """
    wanted = {key: _wanted(key, operation_id, prefix) for key, operation_id in stated.items()}
    shared = Counter(wanted.values())
    names: dict[str, str] = {}
    taken = {name for name in wanted.values() if len(name) <= LONGEST_NAME and shared[name] == 1}
    for key in sorted(wanted):
        name = wanted[key]
        if len(name) > LONGEST_NAME or shared[name] > 1:
            name = _marked(name, key, taken)
            taken.add(name)
        names[key] = name
    return {key: names[key] for key in stated}


def _wanted(key: str, operation_id: str, prefix: str) -> str:
    method, _, path = key.partition(" ")
    words = snake_case(operation_id) or snake_case(f"{method} {path}") or f"op_{digest(key)}"
    name = prefix + words
    if not name.isidentifier():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def _marked(name: str, key: str, taken: set[str]) -> str:
    for length in range(_MARK, LONGEST_NAME // 2):
        mark = digest(key, length)
        marked = f"{name[: LONGEST_NAME - length - 1].rstrip('_')}_{mark}"
        if marked not in taken:
            return marked
    raise AssertionError("two keys with the same digest")
