"""Cuts a JSON value to an amount of room and remembers what it left out.

Objects keep their keys, lists their first items, long texts their beginning, each as far as there
is room; room that one part does not need goes to the others. What says what a thing is comes before
what describes it. Short texts (identifiers, dates) and numbers are whole or gone, never cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from tools.context.identity import ORDINARY, rank
from tools.context.left_out import with_left_out
from tools.context.marks import Marks
from tools.context.measure import ITEM_PUNCTUATION, UNLIMITED, Lengths, holders, key_length
from tools.context.omissions import Omission, Path, report
from tools.context.room import FEWEST_ITEMS, Part, least, portion_of, share, take
from tools.context.texts import CUT_MARK, beginning
from tools.context.tokens import count

REPORT_KEY: Final = "_omitted"
ROOM_OF_A_KEY: Final = 120
DEEPEST: Final = 100

# Key, value and the least room of the value.
_Entry = tuple[Any, Any, int]
_Entries = tuple[list[_Entry], list[_Entry], list[_Entry]]


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """The shortened value and its exact token count."""

    value: Any
    tokens: int


class Cutter:
    """Cuts one value to different amounts of room."""

    def __init__(self, value: Any, marks: Marks, *, cursors: bool = False) -> None:
        self.value = value
        self._marks = marks
        self._cursors = cursors
        self._holders = holders(value, marks.names, [parent for parent, _ in marks.places])
        self._lengths = Lengths(value)
        self._required: dict[int, int] = {}
        self._entries: dict[int, _Entries] = {}
        self._omissions: list[Omission] = []

    @property
    def required(self) -> int:
        """Characters of what must stay."""
        return self._skeleton(self.value, DEEPEST) if self._holders else 0

    @property
    def complete(self) -> bool:
        """Whether the last outcome has all there was to cut."""
        return not self._omissions

    def outcome(self, room: int, entries: int) -> ShrinkResult:
        """The value cut to about `room` characters, with a report of at most `entries` places."""
        self._omissions = []
        cut = self._cut(self.value, room, ())
        shortened = dict(cut) if isinstance(cut, dict) else {"result": cut}
        key = REPORT_KEY
        while key in shortened:
            key = "_" + key
        omissions = self._omissions
        if self._marks.left_out:
            omissions = with_left_out(omissions, self._marks.left_out, cut)
        shortened[key] = report(omissions, entries, cursors=self._cursors) if entries else True
        return ShrinkResult(shortened, count(json.dumps(shortened)))

    def _cut(self, value: Any, room: int, path: Path) -> Any:
        if self._lengths.of(value, room) <= room:
            return value
        if isinstance(value, str):
            kept = beginning(value, room)
            self._omissions.append(
                Omission(path, len(kept), len(value), "characters", leading=len(kept))
            )
            return kept + CUT_MARK
        if isinstance(value, dict):
            return self._cut_object(value, room, path)
        if isinstance(value, list | tuple):
            return self._cut_list(value, room, path)
        return value

    def _cut_object(self, value: dict[Any, Any], room: int, path: Path) -> Any:
        if len(path) >= DEEPEST and id(value) in self._holders:
            return value
        parts = [] if len(path) >= DEEPEST else self._chosen_entries(value, room)
        if len(parts) < len(value):
            total = self._marks.total(value)
            # Where rules took entries away, nobody knows how many of the first are there.
            whole = value if total == len(value) else ()
            leading = _leading([part.name for part in parts], whole)
            self._omissions.append(Omission(path, len(parts), total, "keys", leading))
        return {
            part.name: part.value
            if self._marks.keep(value, part.name)
            else self._cut(part.value, part.room, (*path, str(part.name)))
            for part in parts
        }

    def _chosen_entries(self, value: dict[Any, Any], room: int) -> list[Part]:
        """The entries that stay, in their order.

        The required come first, then the small, those that identify something before the others,
        then the large.
        """
        required, small, large = self._entries_of(value)
        chosen = {key: Part(key, child, size) for key, child, size in required}
        spare = room - 2 - sum(key_length(key) + size for key, _, size in required)
        spare = take((Part(*entry) for entry in small), chosen, spare)
        if sum(key_length(key) + size for key, _, size in large) <= spare:
            spare = take((Part(*entry) for entry in large), chosen, spare)
        elif large:
            # Not all of them can stay, so those that do shall say something.
            beside = max(key_length(key) for key, _, _ in large[:FEWEST_ITEMS])
            portion = portion_of(spare, len(large), beside)
            resized = (
                Part(key, child, least(child, portion, self._lengths)) for key, child, _ in large
            )
            spare = take(resized, chosen, spare)
        parts = [chosen[key] for key in value if key in chosen]
        cuttable = [part for part in parts if not self._marks.keep(value, part.name)]
        share(cuttable, spare, self._lengths)
        return parts

    def _entries_of(self, value: dict[Any, Any]) -> _Entries:
        """The required, the small and the large entries. Remembered: they are the same each round."""
        known = self._entries.get(id(value))
        if known is not None:
            return known
        required: list[_Entry] = []
        large: list[_Entry] = []
        ranked: list[list[_Entry]] = [[] for _ in range(ORDINARY + 1)]
        for key, child in value.items():
            needed = self._required_of(value, key, child)
            if needed is not None:
                required.append((key, child, needed))
            elif (standing := rank(key, child)) < ORDINARY:
                # Not cut: half an identifier says nothing.
                ranked[standing].append((key, child, self._lengths.of(child)))
            else:
                size = least(child, ROOM_OF_A_KEY, self._lengths)
                (ranked[ORDINARY] if size < ROOM_OF_A_KEY else large).append((key, child, size))
        small = [entry for equals in ranked for entry in equals]
        self._entries[id(value)] = required, small, large
        return required, small, large

    def _cut_list(self, value: list[Any] | tuple[Any, ...], room: int, path: Path) -> Any:
        if len(path) >= DEEPEST and id(value) in self._holders:
            return value
        parts = [] if len(path) >= DEEPEST else self._chosen_items(value, room)
        positions = [self._marks.origin(value, part.name) for part in parts]
        if len(parts) < len(value):
            leading = _leading(positions, range(len(value)))
            total = self._marks.total(value)
            self._omissions.append(Omission(path, len(parts), total, "items", leading))
        return [
            self._cut(part.value, part.room, (*path, position))
            for part, position in zip(parts, positions, strict=True)
        ]

    def _chosen_items(self, value: list[Any] | tuple[Any, ...], room: int) -> list[Part]:
        """The first items, as many as there is room for, and all that hold preserved keys."""
        required: dict[int, int] = {}
        if id(value) in self._holders:
            for position, item in enumerate(value):
                if id(item) in self._holders:
                    required[position] = self._skeleton(item, DEEPEST)
        spare = room - 2 - sum(size + ITEM_PUNCTUATION for size in required.values())
        portion = self._portion(value, spare)
        parts: list[Part] = []
        taking = True
        for position, item in enumerate(value):
            minimum = required.get(position, -ITEM_PUNCTUATION)
            if taking:
                size = max(least(item, portion, self._lengths), minimum)
                taking = size - minimum <= spare
            if taking:
                spare -= size - minimum
                parts.append(Part(position, item, size))
            elif position in required:
                parts.append(Part(position, item, minimum))
            elif not required:
                break
        share(parts, spare, self._lengths)
        return parts

    def _portion(self, value: list[Any] | tuple[Any, ...], spare: int) -> int:
        """The most room an item has at first: all it needs where items are whole or gone."""
        # Items of which not one would fit are cut like any other.
        if id(value) in self._marks.paged and self._lengths.of(value[0], spare) < spare:
            return UNLIMITED
        return portion_of(spare, len(value), ITEM_PUNCTUATION)

    def _required_of(self, parent: Any, key: Any, child: Any) -> int | None:
        """The least room an entry must have, or None when it may be left out."""
        if self._marks.keep(parent, key):
            return self._lengths.of(child)
        return self._skeleton(child, DEEPEST) if id(child) in self._holders else None

    def _skeleton(self, value: Any, depth: int) -> int:
        """Length of what is left of a holder when all that may go is gone."""
        known = self._required.get(id(value))
        if known is not None:
            return known
        total = 2
        if depth == 0:
            total = self._lengths.of(value)
        elif isinstance(value, dict):
            for key, child in value.items():
                if self._marks.keep(value, key):
                    total += key_length(key) + self._lengths.of(child)
                elif id(child) in self._holders:
                    total += key_length(key) + self._skeleton(child, depth - 1)
        else:
            for item in value:
                if id(item) in self._holders:
                    total += ITEM_PUNCTUATION + self._skeleton(item, depth - 1)
        self._required[id(value)] = total
        return total


def _leading(kept: Sequence[Any], original: Iterable[Any]) -> int:
    """How many of the first entries of the original are all there."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(kept, original, strict=False))
    )
