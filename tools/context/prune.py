"""Applies rules that speak of paths: takes away what goes first and marks what stays."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from tools.context.marks import Marks, Place
from tools.context.measure import holders
from tools.context.omissions import Omission, Path, Unit
from tools.context.paths import Pattern, Spot, spots
from tools.context.ranking import best
from tools.context.rules import Rules, Top


def prune(value: Any, rules: Rules, preserve: Collection[str] = ()) -> tuple[Any, Marks]:
    """A copy of `value` without what `rules` take away, and what they say about the rest.

    What is kept wins: an entry that is kept, or has something in it that is, is not taken away.
    """
    # Parts are known by their identity, so none may be in two places.
    pruning = _Pruning(json.loads(json.dumps(value)), rules, frozenset(preserve))
    return pruning.value, pruning.marks()


class _Pruning:
    def __init__(self, value: Any, rules: Rules, preserve: frozenset[str]) -> None:
        self.value = value
        kept = [Pattern.parse(path) for path in (*rules.keep, *rules.whole)]
        names = {pattern.steps[0] for pattern in kept if pattern.anywhere}
        self._names = preserve | names
        self._places: frozenset[Place] = frozenset(
            (id(spot.parent), spot.key)
            for pattern in kept
            if not pattern.anywhere
            for spot in spots(value, pattern)
        )
        self._totals: dict[int, int] = {}
        self._origins: dict[int, tuple[int, ...]] = {}
        self._holders = holders(value, self._names, [parent for parent, _ in self._places])
        self._whole = _containers(
            [spot.value for pattern in kept for spot in spots(value, pattern)]
            + [spot.value for name in preserve for spot in spots(value, Pattern((name,), True))]
        )
        self._drop(rules.drop)
        for top in rules.top:
            self._choose(top)
        self._paged = frozenset(self._origins) | frozenset(
            id(spot.value)
            for path in rules.page
            for spot in spots(value, Pattern.parse(path))
            if isinstance(spot.value, list) and spot.value
        )

    def marks(self) -> Marks:
        """What the rules say about the value that is left."""
        left_out = tuple(self._left_out()) if self._totals else ()
        return Marks(self._names, self._places, self._paged, self._totals, self._origins, left_out)

    def _drop(self, paths: Collection[str]) -> None:
        for path in paths:
            for spot in self._innermost_first(path):
                if not self._is_kept(spot):
                    self._totals.setdefault(id(spot.parent), len(spot.parent))
                    del spot.parent[spot.key]

    def _choose(self, top: Top) -> None:
        for spot in self._innermost_first(top.path):
            part = spot.value
            if not isinstance(part, dict | list) or self._is_kept(spot):
                continue
            entries = _entries(part)
            chosen = best(entries, top.by, top.count, top.floor)
            self._totals.setdefault(id(part), len(part))
            part.clear()
            if isinstance(part, dict):
                part.update(chosen)
            else:
                part.extend(item for _, item in chosen)
                before = self._origins.get(id(part), range(len(entries)))
                self._origins[id(part)] = tuple(before[position] for position, _ in chosen)

    def _is_kept(self, spot: Spot) -> bool:
        kept = spot.key in self._names or (id(spot.parent), spot.key) in self._places
        return kept or id(spot.parent) in self._whole or id(spot.value) in self._holders

    def _innermost_first(self, path: str) -> list[Spot]:
        """What a path leads to, so that nothing is looked at which was taken away before."""
        return list(spots(self.value, Pattern.parse(path)))[::-1]

    def _left_out(self) -> Iterator[tuple[Path, Omission]]:
        """What was taken from the parts that are left: where each is now, and where it was."""
        waiting: list[tuple[Any, Path, Path]] = [(self.value, (), ())]
        while waiting:
            part, now, was = waiting.pop()
            total = self._totals.get(id(part))
            if total is not None and total > len(part):
                yield now, Omission(was, len(part), total, _unit(part))
            origins = self._origins.get(id(part))
            waiting.extend(
                (child, (*now, key), (*was, key if origins is None else origins[key]))
                for key, child in _entries(part)
                if isinstance(child, dict | list)
            )


def _unit(part: Any) -> Unit:
    return "keys" if isinstance(part, dict) else "items"


def _entries(part: Any) -> list[tuple[Any, Any]]:
    if isinstance(part, dict):
        return list(part.items())
    return list(enumerate(part)) if isinstance(part, list) else []


def _containers(values: list[Any]) -> frozenset[int]:
    """Identities of all objects and lists among `values` and in them."""
    waiting, found = values, set[int]()
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict | list) and id(current) not in found:
            found.add(id(current))
            waiting.extend(current.values() if isinstance(current, dict) else current)
    return frozenset(found)
