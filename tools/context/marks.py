"""What rules say about the parts of one value, by the identity of the objects and lists in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.context.omissions import Omission, Path

Place = tuple[int, Any]


@dataclass(frozen=True, slots=True)
class Marks:
    """The value they are about must stay as it is and outlive them.

    `names` are keys kept at any depth, `places` single entries that are kept: (identity of the
    object, key). Items of the lists in `paged` are whole or gone. `totals` has how many entries an
    object or list had before rules took some away, `origins` where the items left in a list were,
    and `left_out` what the rules took, with the place where that is missing now.
    """

    names: frozenset[str] = frozenset()
    places: frozenset[Place] = frozenset()
    paged: frozenset[int] = frozenset()
    totals: Mapping[int, int] = field(default_factory=dict)
    origins: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    left_out: tuple[tuple[Path, Omission], ...] = ()

    def keep(self, parent: Any, key: Any) -> bool:
        """Whether the value of `key` in the object `parent` stays whole."""
        return key in self.names or (id(parent), key) in self.places

    def total(self, part: Any) -> int:
        """How many entries an object or list had in the original."""
        return self.totals.get(id(part), len(part))

    def origin(self, part: Any, position: int) -> int:
        """Where an item of a list was in the original."""
        origins = self.origins.get(id(part))
        return position if origins is None else origins[position]
