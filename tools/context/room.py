"""Who gets how much room: shares characters out among the entries of an object or a list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tools.context.measure import Lengths, key_length

SHORTEST_CUT_TEXT: Final = 100
ROOM_OF_AN_ITEM: Final = 200
SMALLEST_ROOM: Final = 40
FEWEST_ITEMS: Final = 5


@dataclass(slots=True)
class Part:
    """A child that may stay, and the room it is given."""

    name: Any
    value: Any
    room: int


def least(value: Any, portion: int, lengths: Lengths) -> int:
    """The room `value` needs to be there at all: its length, or `portion` if it can be cut to that."""
    size = lengths.of(value, portion)
    if size <= portion:
        return size
    if isinstance(value, dict | list | tuple):
        return portion
    if isinstance(value, str) and len(value) > SHORTEST_CUT_TEXT:
        return portion
    return lengths.of(value)


def portion_of(spare: int, parts: int, beside: int) -> int:
    """The room of one large part: so much that it says something, so little that a few fit.

    `beside` is what each part costs beside its value.
    """
    enough = min(ROOM_OF_AN_ITEM, max(SMALLEST_ROOM, spare - beside))
    return max(spare // max(1, min(parts, FEWEST_ITEMS)) - beside, enough)


def take(parts: Iterable[Part], chosen: dict[Any, Part], spare: int) -> int:
    """Choose parts as long as they fit; what is left of `spare`. One outsized part is passed over."""
    outsized = spare // 2
    for part in parts:
        cost = key_length(part.name) + part.room
        if cost <= spare:
            chosen[part.name] = part
            spare -= cost
        elif cost <= outsized:
            break
    return spare


def share(parts: list[Part], spare: int, lengths: Lengths) -> None:
    """Give `spare` room to the parts that can use it, evenly; what one leaves goes to the others."""
    if spare <= 0:
        return
    gaps = [(lengths.of(part.value, part.room + spare) - part.room, part) for part in parts]
    gaps = sorted((gap for gap in gaps if gap[0] > 0), key=lambda gap: gap[0])
    for index, (gap, part) in enumerate(gaps):
        given = min(gap, spare // (len(gaps) - index))
        part.room += given
        spare -= given
