"""Texts with placeholders: plain names, doubled braces, nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.offerings import PlaceholderFault, TooLong, expand, names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("plain", ()),
        ("{a}", ("a",)),
        ("{b} and {a}, then {b} again", ("b", "a")),
        ("{{not}} but {yes}", ("yes",)),
        ("{{{a}}}", ("a",)),
        ("{_x1}", ("_x1",)),
    ],
)
def test_names_are_found_once_and_in_order(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    "text",
    ["{", "}", "{}", "{a", "a}", '{"json": 1}', "{a.b}", "{a!r}", "{0}", "{a b}", "{é}", "{{a}"],
)
def test_stray_brace_is_a_fault_that_shows_its_place(text: str) -> None:
    with pytest.raises(PlaceholderFault, match="starts no placeholder"):
        names_in(text)


def test_values_go_in_as_they_are_and_are_not_read_again() -> None:
    values = {"a": "{b} {{x}} {a.__class__}", "b": "no"}
    assert expand("<{a}>{{{a}}}", values, 1000) == f"<{values['a']}>{{{values['a']}}}"


def test_name_without_a_value_becomes_nothing() -> None:
    assert expand("[{a}]", {}, 1000) == "[]"


def test_text_of_exactly_the_room_fits_and_one_more_does_not() -> None:
    assert expand("a{x}", {"x": "bb"}, 3) == "abb"
    with pytest.raises(TooLong):
        expand("a{x}", {"x": "bb"}, 2)


def test_many_long_values_are_refused_without_building_them() -> None:
    with pytest.raises(TooLong):
        expand("{x}" * 300_000, {"x": "y" * 1_000_000}, 4_000_000)


@given(st.text())
def test_doubling_the_braces_of_any_text_gives_it_back(text: str) -> None:
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert names_in(doubled) == ()
    assert expand(doubled, {}, len(text)) == text


@given(st.text(), st.text(), st.text())
def test_any_value_arrives_unchanged(before: str, value: str, after: str) -> None:
    plain = [part.replace("{", "").replace("}", "") for part in (before, after)]
    text = f"{plain[0]}{{name}}{plain[1]}"
    assert expand(text, {"name": value}, 100_000) == plain[0] + value + plain[1]
