"""Sketches: small, mergeable, every percentile within one percent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tools.figures import Sketch
from tools.figures.sketch import may_reach

SHARES = (0.0, 0.01, 0.25, 0.50, 0.95, 0.99, 1.0)
# From a fraction of a microsecond to years, in milliseconds, and nothing at all.
VALUES = st.one_of(st.just(0.0), st.floats(min_value=1e-6, max_value=1e12))
ANY = st.floats(min_value=0.0, allow_nan=False, allow_infinity=False)
LISTS = st.lists(VALUES, max_size=60)


def nearest_rank(values: Sequence[float], share: float) -> float:
    return sorted(values)[max(1, math.ceil(share * len(values))) - 1]


def merged(*parts: Sequence[float]) -> Sketch:
    whole = Sketch()
    for part in parts:
        whole.merge(Sketch(part).written())
    return whole


@given(st.lists(ANY, min_size=1, max_size=100))
@example([1.76748725410733e308, 1.7851621266484034e308])
def test_every_percentile_is_within_one_percent_of_the_value_of_its_rank(
    values: list[float],
) -> None:
    found = Sketch(values).percentiles(SHARES)
    exact = [nearest_rank(values, share) for share in SHARES]
    assert found == pytest.approx(exact, rel=0.01, abs=0)


@given(LISTS, LISTS)
def test_sketches_of_parts_add_up_to_that_of_the_whole_in_any_order(
    left: list[float], right: list[float]
) -> None:
    whole = Sketch([*left, *right]).written()
    assert merged(left, right).written() == whole
    assert merged(right, left).written() == whole


@given(LISTS, LISTS, LISTS)
def test_it_does_not_matter_which_parts_are_added_up_first(
    one: list[float], two: list[float], three: list[float]
) -> None:
    first, last = merged(one, two), merged(two, three)
    left, right = Sketch(), Sketch()
    for text in (first.written(), Sketch(three).written()):
        left.merge(text)
    for text in (Sketch(one).written(), last.written()):
        right.merge(text)
    assert left.written() == right.written()


@given(LISTS, LISTS, VALUES, st.sampled_from(SHARES))
def test_what_cannot_reach_a_value_has_a_lower_percentile(
    left: list[float], right: list[float], value: float, share: float
) -> None:
    parts = merged(left), merged(right)
    both = merged(left, right)
    may = may_reach(value, share, parts, len(left) + len(right))
    (found,) = both.percentiles([share])
    if found is not None and not may:
        assert found < value
    # Close to it nothing is left out, and far from it nothing is kept.
    if found:
        assert may_reach(found, share, parts, both.count)
        assert not may_reach(found * 1.1, share, parts, both.count)


@given(LISTS, LISTS, VALUES)
def test_values_are_counted_alike_before_and_after_they_are_put_together(
    left: list[float], right: list[float], value: float
) -> None:
    parts, whole = merged(left, right), Sketch([*left, *right])
    before = parts.count, parts.within(value)
    assert before == (whole.count, whole.within(value))
    assert parts.buckets == whole.buckets
    assert (parts.count, parts.within(value)) == before


def test_without_values_there_is_no_percentile_and_nothing_to_write() -> None:
    empty = Sketch()
    assert empty.percentiles((0.5, 0.99)) == [None, None]
    assert (empty.written(), empty.count) == ("", 0)


@pytest.mark.parametrize("value", [0.0, 5e-324, 0.001, 7.0, 300_000.0, 1e308])
def test_a_value_that_is_alone_is_told_exactly(value: float) -> None:
    assert Sketch([value] * 3).percentiles(SHARES) == [value] * len(SHARES)


@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_what_is_no_time_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be counted"):
        Sketch([value])


def test_a_million_values_of_all_sizes_take_little_room() -> None:
    sketch = Sketch()
    for power in range(-3, 6):
        for step in range(1, 1000):
            sketch.add(step * 10.0 ** (power - 3))
    assert len(sketch.written()) < 12_000
