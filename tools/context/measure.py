"""How long a JSON value is when written, and where in it the keys stand that must be kept.

Both walk with a stack of their own: a value nested deeper than Python's recursion limit is no
reason to fail.
"""

from __future__ import annotations

from collections.abc import Collection
from json.encoder import encode_basestring_ascii
from typing import Any, Final

UNLIMITED: Final = 1 << 62
# ": " after a key, ", " between entries and between items.
KEY_PUNCTUATION: Final = 4
ITEM_PUNCTUATION: Final = 2
MEASURED_AT_ONCE: Final = 100_000

_Link = tuple[int, Any]


def text_length(text: str) -> int:
    """Length of `text` as JSON, quotes and escapes included."""
    return len(encode_basestring_ascii(text))


def key_length(key: Any) -> int:
    """What a key adds to its object beside the value."""
    return text_length(str(key)) + KEY_PUNCTUATION


def length(value: Any, limit: int = UNLIMITED) -> int:
    """Length of `value` as JSON (within a few characters); counting stops once it is above `limit`."""
    total = 0
    waiting = [value]
    while waiting and total <= limit:
        current = waiting.pop()
        if isinstance(current, str):
            # Escapes only add to it, so a text that is too long already need not be encoded.
            raw = len(current) + 2
            total += raw if total + raw > limit else text_length(current)
        elif isinstance(current, dict):
            total += 2 + KEY_PUNCTUATION * len(current)
            if total <= limit:
                total += sum(text_length(str(key)) for key in current)
                waiting.extend(current.values())
        elif isinstance(current, list | tuple):
            total += 2 + ITEM_PUNCTUATION * len(current)
            if total <= limit:
                waiting.extend(current)
        else:
            total += len(repr(current))
    return total


class Lengths:
    """Lengths of parts of one value, remembered: the same parts are asked about again and again.

    Parts are known by their identity, so the value must stay as it is and outlive this. A value of
    moderate size is measured in one pass; of a large one only what is asked about, when it is.
    """

    def __init__(self, value: Any) -> None:
        self._exact: dict[int, int] = {}
        self._above: dict[int, int] = {}
        if length(value, MEASURED_AT_ONCE) <= MEASURED_AT_ONCE:
            self._measure_all(value)

    def of(self, value: Any, limit: int = UNLIMITED) -> int:
        """The length of `value`, or `limit + 1` when it is longer.

        Never more than that: the answer must not depend on what was asked before.
        """
        if not isinstance(value, dict | list | tuple):
            return min(length(value, limit), limit + 1)
        known = self._exact.get(id(value))
        if known is None and limit > self._above.get(id(value), -1):
            known = length(value, limit)
            if known <= limit:
                self._exact[id(value)] = known
            else:
                self._above[id(value)] = limit
        return limit + 1 if known is None else min(known, limit + 1)

    def _measure_all(self, value: Any) -> None:
        parts = [value] if isinstance(value, dict | list | tuple) else []
        # Grows while it is walked: each part comes before those in it.
        for part in parts:
            parts += [child for child in _children(part) if isinstance(child, dict | list | tuple)]
        for part in reversed(parts):
            own = 2 + ITEM_PUNCTUATION * len(part)
            if isinstance(part, dict):
                own = 2 + sum(key_length(key) for key in part)
            self._exact[id(part)] = own + sum(self.of(child) for child in _children(part))


def _children(part: Any) -> Collection[Any]:
    return part.values() if isinstance(part, dict) else part


def holders(value: Any, keys: Collection[str], parents: Collection[int] = ()) -> frozenset[int]:
    """Identities of the objects and lists in `value` that have one of `keys` in them, at any depth.

    The objects whose identities are `parents` are taken to have one.
    """
    wanted, known = frozenset(keys), frozenset(parents)
    found: set[int] = set()
    waiting: list[tuple[Any, _Link | None]] = [(value, None)] if wanted or known else []
    while waiting:
        current, parent = waiting.pop()
        link: _Link = (id(current), parent)
        if isinstance(current, dict):
            children: Collection[Any] = current.values()
            if link[0] in known or not wanted.isdisjoint(current):
                _mark(link, found)
        elif isinstance(current, list | tuple):
            children = current
        else:
            continue
        waiting.extend(
            (child, link) for child in children if isinstance(child, dict | list | tuple)
        )
    return frozenset(found)


def _mark(link: _Link | None, found: set[int]) -> None:
    while link is not None and link[0] not in found:
        found.add(link[0])
        link = link[1]
