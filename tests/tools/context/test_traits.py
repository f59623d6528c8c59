"""Traits of animals, in any of the forms they come in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.context.traits import listed, select_top_traits


def trait(name: str, accuracy: Any = None) -> dict[str, Any]:
    return {"name": name, "value": 1.5, "accuracy": accuracy}


def names(traits: list[dict[str, Any]]) -> list[str]:
    return [one["name"] for one in select_top_traits(traits)]


def test_the_three_most_accurate_are_chosen_best_first() -> None:
    # S4-046, S4-048
    traits = [trait("A", 60), trait("B", 90), trait("C", 75), trait("D", 80)]

    assert names(traits) == ["B", "D", "C"]


def test_49_is_left_out_and_50_is_chosen() -> None:
    # S4-047, S4-049
    assert names([trait("A", 49), trait("B", 50), trait("C", 49.999)]) == ["B"]


def test_a_missing_accuracy_counts_as_0() -> None:
    # S4-048
    odd = [
        trait("A"),
        {"name": "B", "value": 1},
        trait("C", "90"),
        trait("D", True),
        trait("E", float("nan")),
    ]

    assert names(odd) == []
    assert select_top_traits([]) == []


def test_equally_accurate_ones_are_chosen_by_name() -> None:
    # S4-048
    assert names([trait(name, 80) for name in "DACB"]) == ["A", "B", "C"]


def test_the_chosen_keep_what_they_said() -> None:
    assert select_top_traits([{"name": "BWT", "value": 0.2, "accuracy": 80, "units": "kg"}]) == [
        {"name": "BWT", "value": 0.2, "accuracy": 80, "units": "kg"}
    ]


def test_objects_by_name_become_a_list() -> None:
    # T08
    traits = {
        "BWT": {"name": "BWT", "value": 0.246, "accuracy": 74, "units": None},
        "WWT": {"value": 1},
    }

    assert listed(traits) == [
        {"name": "BWT", "value": 0.246, "accuracy": 74},
        {"name": "WWT", "value": 1},
    ]


@pytest.mark.parametrize(
    ("given", "percent"),
    [
        ([0.8, 0.57, 1.0], [80, 57, 100]),
        ([1, 0.5], [100, 50]),
        ([0.005], [0.5]),
        ([80, 57], [80, 57]),
        ([1, 80], [1, 80]),
        ([80.5, 0.5], [80.5, 0.5]),
        # Whole numbers alone are percent: the client has made them from fractions.
        ([1, 0], [1, 0]),
    ],
)
def test_fractions_become_percent(given: list[float], percent: list[float]) -> None:
    # T08
    assert [one["accuracy"] for one in listed([trait("X", one) for one in given])] == percent


@pytest.mark.parametrize(
    ("traits", "expected"),
    [
        ({"BWT": 0.378}, [{"name": "BWT", "value": 0.378}]),
        ({"BWT": {"Value": 2, "Accuracy": 60}}, [{"name": "BWT", "value": 2, "accuracy": 60}]),
        ([{"trait": "BWT", "value": 2}], [{"name": "BWT", "value": 2}]),
        (None, []),
        ("BWT", []),
        (7, []),
    ],
)
def test_other_forms_are_understood_too(traits: Any, expected: list[dict[str, Any]]) -> None:
    assert listed(traits) == expected


@given(st.lists(st.none() | st.integers(-10, 200) | st.floats(0, 100), max_size=12))
def test_the_chosen_are_never_beaten_by_one_left_out(accuracies: list[Any]) -> None:
    # S4-048
    traits = [trait(f"T{n:02d}", accuracy) for n, accuracy in enumerate(accuracies)]
    chosen = select_top_traits(traits)
    good = sorted((one for one in accuracies if one is not None and one >= 50), reverse=True)

    assert [one["accuracy"] for one in chosen] == good[:3]
