"""Values as the audit trail keeps them: without secrets, of bounded size, comparable."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from tools.context.redact import redact

# Of each value; more than the longest definition anybody reads.
LONGEST_VALUE: Final = 20_000
MOST_NAMES: Final = 200


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same. As JSON, because Python takes true for 1."""
    return one is other or _text(one) == _text(other)


def change(before: Any, after: Any) -> dict[str, Any]:
    """What became of a field; `cut` when more was there than is kept."""
    old, old_cut = _kept(before)
    new, new_cut = _kept(after)
    found = {"before": old, "after": new}
    return {**found, "cut": True} if old_cut or new_cut else found


def members(added: Collection[str], removed: Collection[str]) -> dict[str, Any]:
    """What became of a list of others."""
    found: dict[str, Any] = {}
    for word, names in (("added", added), ("removed", removed)):
        if names:
            found[word] = sorted(names)[:MOST_NAMES]
            if len(names) > MOST_NAMES:
                found[word].append(f"… and {len(names) - MOST_NAMES:,} more")
                found["cut"] = True
    return found


def _kept(value: Any) -> tuple[Any, bool]:
    """The value without secrets, or the beginning of its text."""
    plain = value if isinstance(value, str) else json.loads(_text(value))
    clean = redact(plain)
    text = clean if isinstance(clean, str) else json.dumps(clean, indent=2, ensure_ascii=False)
    return (clean, False) if len(text) <= LONGEST_VALUE else (text[:LONGEST_VALUE], True)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
