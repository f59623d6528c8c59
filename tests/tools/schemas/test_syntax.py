"""JSON text: its faults in words, and where each of its values stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.schemas.syntax import Place, SyntaxFault, places_in, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "told", "place"),
    [
        ('{"a":\n }', "Write a value here", Place(2, 2)),
        ('{"a": 1,}', "take away the comma", Place(1, 9)),
        ("{'a': 1}", "double quotes", Place(1, 2)),
        ('{"a": 1 "b": 2}', "Put a comma before this", Place(1, 9)),
        ('{"a" 1}', "Put a colon", Place(1, 6)),
        ("{} {}", "Take away what stands after the end", Place(1, 4)),
        ('{"a": "b', "Close this text", Place(1, 7)),
        ('"a\nb"', "Write \\n for a line end", Place(1, 3)),
        ('"\\x"', "for a backslash", Place(1, 2)),
        ("[" * 100_000, "Nested too deeply", None),
        ("9" * 5000, "A number is too long", None),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_to_do(
    text: str, told: str, place: Place | None
) -> None:
    with pytest.raises(SyntaxFault, match=told.replace("\\", "\\\\")) as caught:
        read_json(text)
    assert caught.value.place == place


def test_every_value_and_name_is_found() -> None:
    text = '{\n  "a": [1, {"b": "x"}],\n  "ü\\n": NaN\n}'
    found = places_in(text)
    assert found.of(()) == Place(1, 1)
    assert found.of(("a", 0)) == Place(2, 9)
    assert found.of(("a", 1, "b")) == Place(2, 18)
    assert found.of(("a", 1, "b"), name=True) == Place(2, 13)
    assert found.of(("ü\n",)) == Place(3, 10)
    # What is not there is looked for in what it would be in.
    assert found.of(("a", 1, "no", "way")) == Place(2, 12)


def test_names_written_twice_are_found() -> None:
    found = places_in('{"a": 1, "b": {"a": 2}, "a": 3}')
    assert found.twice == [(("a",), 24)]


@given(VALUES, st.sampled_from([None, 2]))
def test_places_lead_to_the_values(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    reader = json.JSONDecoder()
    for path, offset in places_in(text).values.items():
        expected = value
        for step in path:
            expected = expected[step]
        assert reader.raw_decode(text, offset)[0] == expected


def test_what_is_nested_very_deeply_is_passed_over() -> None:
    text = f'{{"a": {"[" * 200}"]"{"]" * 200}, "b": 1}}'
    assert places_in(text).of(("b",)).column == text.index("1") + 1
