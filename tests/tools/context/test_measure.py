"""Lengths of JSON values and the places of keys that must be kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from tools.context import measure
from tools.context.measure import Lengths, holders, length

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


def containers(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(containers, value.values()))
    return 1 + sum(map(containers, value)) if isinstance(value, list) else 0


@given(values)
def test_the_length_is_that_of_the_written_json_within_two_characters_per_container(
    value: Any,
) -> None:
    written = len(json.dumps(value))

    assert written - 1 <= length(value) <= written + 1 + 2 * containers(value)


@given(values, st.integers(0, 200))
def test_a_limit_changes_only_what_is_above_it(value: Any, limit: int) -> None:
    whole = length(value)

    if whole <= limit:
        assert length(value, limit) == whole
    else:
        assert length(value, limit) > limit


@pytest.mark.parametrize("measured_at_once", [0, 10**9])
@given(
    st.lists(values, max_size=4).map(lambda parts: [*parts, *parts]),
    st.lists(st.integers(0, 200), min_size=1, max_size=5),
)
def test_remembered_lengths_answer_as_fresh_ones(
    measured_at_once: int, parts: list[Any], limits: list[int]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "MEASURED_AT_ONCE", measured_at_once)
        lengths = Lengths(parts)
    for limit in limits:
        for part in parts:
            whole = length(part)
            answer = lengths.of(part, limit)
            assert answer == min(whole, limit + 1)
    assert [lengths.of(part) for part in parts] == [length(part) for part in parts]
    assert lengths.of(parts) == length(parts)


@pytest.mark.parametrize("filler", ["", "x" * 300_000])
def test_a_part_is_walked_once(filler: str) -> None:
    class Counted(dict[str, Any]):
        walks = 0

        @override
        def values(self) -> Any:
            Counted.walks += 1
            return super().values()

    part = Counted(a=1)
    lengths = Lengths([filler, part])
    lengths.of(part)
    Counted.walks = 0

    assert (lengths.of(part, 50), lengths.of(part), lengths.of(part, 1)) == (10, 10, 2)
    assert Counted.walks == 0


def test_a_value_far_above_the_limit_is_not_walked() -> None:
    class Counted(list[Any]):
        @override
        def __iter__(self) -> Any:
            raise AssertionError("the items were looked at")

    assert length(Counted([1] * 1000), 100) > 100


def test_holders_are_all_containers_on_the_way_to_a_wanted_key() -> None:
    inner = {"id": 7}
    aside = {"name": "x"}
    middle = [aside, {"deep": inner}]
    root = {"list": middle, "other": aside}

    assert holders(root, ["id"]) == {id(root), id(middle), id(middle[1]), id(inner)}
    assert holders(root, ["absent"]) == frozenset()
    assert holders(root, []) == frozenset()


def test_values_nested_beyond_the_recursion_limit_are_measured_and_searched() -> None:
    value: Any = {"id": 1}
    for _ in range(5000):
        value = [value]

    assert length(value) > 10_000
    assert len(holders(value, ["id"])) == 5001
