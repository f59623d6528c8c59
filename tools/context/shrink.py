"""Shortens a JSON value to a number of tokens and says in it what was left out.

Objects keep their keys, lists their first items, long texts their beginning, each as far as there
is room; room that one part does not need goes to the others. Short texts (identifiers, dates) and
numbers are whole or gone, never cut. Values of preserved keys, and the way to them, always stay.
The result is an object with a report of what is missing under `_omitted`, whose pointers lead
into the original value; a list or a text at the top becomes `{"result": …}` to make room for it.

Room is measured in characters, which is cheap, and adjusted in a few rounds until the exact token
count of the outcome fits. Only the parts that may stay are looked at closely, so the cost follows
the size of the outcome rather than that of the original.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from tools.context.measure import ITEM_PUNCTUATION, Lengths, holders, key_length, text_length
from tools.context.omissions import Omission, Path, report
from tools.context.room import FEWEST_ITEMS, Part, least, portion_of, share, take
from tools.context.tokens import count, count_json
from tools.errors import ErrorDetails, SummarizationFailed

REPORT_KEY: Final = "_omitted"
ROOM_OF_A_KEY: Final = 120
DEEPEST: Final = 100
ROOM_BESIDE_PRESERVED: Final = 400
MOST_REPORTED: Final = 8
ROUNDS: Final = 10
# A first guess for JSON; the rounds correct it.
CHARACTERS_PER_TOKEN: Final = 3
CLOSE_ENOUGH: Final = 0.9
CUT_MARK: Final = "…"


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """The shortened value and its exact token count."""

    value: Any
    tokens: int


def shrink(
    value: Any,
    *,
    budget: int,
    preserve: Collection[str] = (),
    reduction: float = 0.70,
    tokens: int | None = None,
) -> ShrinkResult:
    """`value` shortened to at most `1 - reduction` of its tokens, and to `budget` where possible.

    Above `budget` it stays only if what must be preserved leaves no other choice. `tokens` is the
    count of `value` where the caller knows it already.

    Raises:
        SummarizationFailed: when the preserved parts alone are more than `1 - reduction`.
    """
    before = count_json(value) if tokens is None else tokens
    # The addend undoes the rounding of 1 - reduction: 30 % of 3500 are 1050 tokens, not 1049.
    most = int(before * (1 - reduction) + 1e-6)
    target = min(budget, most)
    cutter = _Cutter(value, frozenset(preserve))
    if cutter.required and cutter.outcome(0, MOST_REPORTED).tokens > target:
        return _smallest(cutter, most)
    return _fitting(cutter, target) or _smallest(cutter, most)


def _fitting(cutter: _Cutter, target: int) -> ShrinkResult | None:
    """The fullest outcome found within `target`, or None when even little room gives too much."""
    best: ShrinkResult | None = None
    fits = fails = 0
    room = max(cutter.required, target * CHARACTERS_PER_TOKEN)
    for _ in range(ROUNDS):
        outcome = cutter.outcome(room, MOST_REPORTED)
        ratio = target / outcome.tokens
        if ratio >= 1:
            fits = room
            if best is None or outcome.tokens >= best.tokens:
                best = outcome
            if ratio * CLOSE_ENOUGH <= 1:
                break
            room = (fits + fails) // 2 if fails else int(room * min(ratio, 4))
        else:
            # 0.95: landing just below the target ends the search, landing just above does not.
            room, fails = (fits + room) // 2 if fits or fails else int(room * ratio * 0.95), room
        if room == fits:
            break
    return best


def _smallest(cutter: _Cutter, most: int) -> ShrinkResult:
    """The preserved parts and little else, with as much of a report as there is room for."""
    comfortable = cutter.required + ROOM_BESIDE_PRESERVED
    for room, entries in ((comfortable, MOST_REPORTED), (0, 1), (0, 0)):
        outcome = cutter.outcome(room, entries)
        if outcome.tokens <= most:
            return outcome
    raise SummarizationFailed(
        "The answer is too large and what must be kept of it cannot be shortened enough",
        ErrorDetails(
            expected=f"at most {most} tokens; the parts that must be kept have {outcome.tokens}",
            suggestion="Ask for less at once: a smaller page, fewer records or a narrower query",
        ),
    )


class _Cutter:
    """Cuts one value to different amounts of room."""

    def __init__(self, value: Any, preserve: frozenset[str]) -> None:
        self.value = value
        self._preserve = preserve
        self._holders = holders(value, preserve)
        self._lengths = Lengths(value)
        self._required: dict[int, int] = {}
        self._omissions: list[Omission] = []

    @property
    def required(self) -> int:
        """Characters of what must stay."""
        return self._skeleton(self.value, DEEPEST) if self._holders else 0

    def outcome(self, room: int, entries: int) -> ShrinkResult:
        """The value cut to about `room` characters, with a report of at most `entries` places."""
        self._omissions = []
        cut = self._cut(self.value, room, ())
        shortened = dict(cut) if isinstance(cut, dict) else {"result": cut}
        key = REPORT_KEY
        while key in shortened:
            key = "_" + key
        shortened[key] = report(self._omissions, entries) if entries else True
        return ShrinkResult(shortened, count(json.dumps(shortened)))

    def _cut(self, value: Any, room: int, path: Path) -> Any:
        if self._lengths.of(value, room) <= room:
            return value
        if isinstance(value, str):
            return self._cut_text(value, room, path)
        if isinstance(value, dict):
            return self._cut_object(value, room, path)
        if isinstance(value, list | tuple):
            return self._cut_list(value, room, path)
        return value

    def _cut_text(self, text: str, room: int, path: Path) -> str:
        most = room - text_length(CUT_MARK) + 2
        kept = text[: max(0, most - 2)]
        while kept and (size := text_length(kept)) > most:
            kept = kept[: min(len(kept) - 1, max(0, len(kept) * most // size))]
        word_end = kept.rfind(" ")
        if word_end > len(kept) * 0.8:
            kept = kept[:word_end]
        self._omissions.append(Omission(path, len(kept), len(text), "characters"))
        return kept + CUT_MARK

    def _cut_object(self, value: dict[Any, Any], room: int, path: Path) -> Any:
        if len(path) >= DEEPEST and id(value) in self._holders:
            return value
        parts = [] if len(path) >= DEEPEST else self._chosen_entries(value, room)
        if len(parts) < len(value):
            self._omissions.append(Omission(path, len(parts), len(value), "keys"))
        return {
            part.name: part.value
            if part.name in self._preserve
            else self._cut(part.value, part.room, (*path, str(part.name)))
            for part in parts
        }

    def _chosen_entries(self, value: dict[Any, Any], room: int) -> list[Part]:
        """The entries that stay, in their order: the required, then the small, then the large."""
        spare = room - 2
        chosen: dict[Any, Part] = {}
        small: list[Part] = []
        large: list[Part] = []
        for key, child in value.items():
            required = self._required_of(key, child)
            if required is not None:
                chosen[key] = Part(key, child, required)
                spare -= key_length(key) + required
                continue
            part = Part(key, child, least(child, ROOM_OF_A_KEY, self._lengths))
            (small if part.room < ROOM_OF_A_KEY else large).append(part)
        spare = take(small, chosen, spare)
        if sum(key_length(part.name) + part.room for part in large) <= spare:
            spare = take(large, chosen, spare)
        elif large:
            # Not all of them can stay, so those that do shall say something.
            beside = max(key_length(part.name) for part in large[:FEWEST_ITEMS])
            portion = portion_of(spare, len(large), beside)
            resized = (
                Part(part.name, part.value, least(part.value, portion, self._lengths))
                for part in large
            )
            spare = take(resized, chosen, spare)
        parts = [chosen[key] for key in value if key in chosen]
        share([part for part in parts if part.name not in self._preserve], spare, self._lengths)
        return parts

    def _cut_list(self, value: list[Any] | tuple[Any, ...], room: int, path: Path) -> Any:
        if len(path) >= DEEPEST and id(value) in self._holders:
            return value
        parts = [] if len(path) >= DEEPEST else self._chosen_items(value, room)
        if len(parts) < len(value):
            self._omissions.append(Omission(path, len(parts), len(value), "items"))
        return [self._cut(part.value, part.room, (*path, part.name)) for part in parts]

    def _chosen_items(self, value: list[Any] | tuple[Any, ...], room: int) -> list[Part]:
        """The first items, as many as there is room for, and all that hold preserved keys."""
        required: dict[int, int] = {}
        if id(value) in self._holders:
            for position, item in enumerate(value):
                if id(item) in self._holders:
                    required[position] = self._skeleton(item, DEEPEST)
        spare = room - 2 - sum(size + ITEM_PUNCTUATION for size in required.values())
        portion = portion_of(spare, len(value), ITEM_PUNCTUATION)
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

    def _required_of(self, key: Any, child: Any) -> int | None:
        """The least room an entry must have, or None when it may be left out."""
        if key in self._preserve:
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
                if key in self._preserve:
                    total += key_length(key) + self._lengths.of(child)
                elif id(child) in self._holders:
                    total += key_length(key) + self._skeleton(child, depth - 1)
        else:
            for item in value:
                if id(item) in self._holders:
                    total += ITEM_PUNCTUATION + self._skeleton(item, depth - 1)
        self._required[id(value)] = total
        return total
