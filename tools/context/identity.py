"""Which fields say what a thing is: those stay when there is not room for all of them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

ORDINARY: Final = 3
LONGEST: Final = 300

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
# By how much is lost without them: what it is, what it is called, in which state it is.
_RANKS: Final = {
    **dict.fromkeys(("id", "ids", "uuid", "guid", "key", "isbn", "iban", "sku", "lpn"), 0),
    **dict.fromkeys(("name", "title", "slug", "label", "total", "count", "error"), 1),
    **dict.fromkeys(
        ("code", "url", "uri", "href", "status", "state", "date", "dob", "type", "kind"), 2
    ),
}


def rank(key: Any, value: Any) -> int:
    """0 for identifiers, 1 for names and totals, 2 for codes, addresses, states and dates, else 3.

    Only single values identify something, and no long texts; all others are ordinary.
    """
    if isinstance(value, str):
        if len(value) > LONGEST:
            return ORDINARY
    elif isinstance(value, dict | list | tuple):
        return ORDINARY
    return _rank(key) if isinstance(key, str) else ORDINARY


@lru_cache(maxsize=4096)
def _rank(key: str) -> int:
    words = _WORDS.findall(key[:100])
    if not words:
        return ORDINARY
    last = words[-1].lower()
    if last == "at" and len(words) > 1:
        # created_at, updatedAt
        return 2
    # dateOfBirth, status_text and id_of_owner name themselves at the front.
    return min(_RANKS.get(last, ORDINARY), _RANKS.get(words[0].lower(), ORDINARY))
