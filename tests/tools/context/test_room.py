"""Room is shared evenly, and nothing is given more than it can use."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tools.context.measure import Lengths, length
from tools.context.room import Part, least, portion_of, share, take


@given(st.lists(st.integers(0, 500), max_size=10), st.integers(-50, 2000))
def test_sharing_never_gives_more_than_there_is_or_than_a_part_needs(
    sizes: list[int], spare: int
) -> None:
    parts = [Part(n, "x" * size, 2) for n, size in enumerate(sizes)]
    before = sum(part.room for part in parts)
    share(parts, spare, Lengths(None))

    assert sum(part.room for part in parts) - before <= max(0, spare)
    assert all(part.room <= max(2, length(part.value)) for part in parts)


def test_what_a_small_part_leaves_goes_to_the_large_ones() -> None:
    small, large, other = Part("a", "x" * 10, 2), Part("b", "x" * 900, 2), Part("c", "x" * 900, 2)
    share([small, large, other], 310, Lengths(None))

    assert (small.room, large.room, other.room) == (12, 152, 152)


def test_short_texts_and_numbers_need_their_whole_length() -> None:
    assert least("x" * 100, 40, Lengths(None)) == 102
    assert least(10**99, 40, Lengths(None)) == 100
    assert least("x" * 101, 40, Lengths(None)) == 40
    assert least(["x" * 100], 40, Lengths(None)) == 40


def test_parts_are_taken_in_order_until_one_does_not_fit() -> None:
    chosen: dict[Any, Part] = {}
    parts = [Part(name, "", 10) for name in "abcdef"]

    left = take(parts, chosen, 60)

    assert list(chosen) == ["a", "b", "c"]
    assert left == 60 - 3 * (10 + 3 + 4)


def test_one_outsized_part_is_passed_over() -> None:
    chosen: dict[Any, Part] = {}

    take([Part("k" * 500, 1, 1), Part("b", 2, 1)], chosen, 100)

    assert list(chosen) == ["b"]


def test_a_portion_leaves_room_for_a_few_others() -> None:
    assert portion_of(10_000, 2, 10) == 4990
    assert portion_of(10_000, 100, 2) == 1998
    assert portion_of(300, 100, 2) == 200
    assert portion_of(100, 100, 2) == 98
    assert portion_of(-5, 0, 2) == 40
