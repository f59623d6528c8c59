"""Paths that rules are written with."""

from __future__ import annotations

from typing import Any

import pytest

from tools.context.paths import Pattern, spots

ANSWER = {
    "name": "flock",
    "data": {"animal": {"name": "Ada", "notes": "x"}, "a.b": {"name": "dotted"}},
    "records": [{"name": "one", "tags": [{"name": "t"}]}, [{"name": "nested"}], 7],
}


def found(path: str) -> list[tuple[tuple[Any, ...], str]]:
    return [(spot.path, spot.key) for spot in spots(ANSWER, Pattern.parse(path))]


def test_one_name_is_found_at_any_depth() -> None:
    assert found("name") == [
        ((), "name"),
        (("data", "animal"), "name"),
        (("data", "a.b"), "name"),
        (("records", 0), "name"),
        (("records", 0, "tags", 0), "name"),
        (("records", 1, 0), "name"),
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.name", [((), "name")]),
        ("data.animal.name", [(("data", "animal"), "name")]),
        ("$.data.animal.name", [(("data", "animal"), "name")]),
        ("records.name", [(("records", 0), "name"), (("records", 1, 0), "name")]),
        ("records.tags.name", [(("records", 0, "tags", 0), "name")]),
        ("data.*.name", [(("data", "animal"), "name"), (("data", "a.b"), "name")]),
        (r"data.a\.b.name", [(("data", "a.b"), "name")]),
        ("$.*", [((), "name"), ((), "data"), ((), "records")]),
        ("data.absent.name", []),
        ("name.inner", []),
    ],
)
def test_several_names_lead_from_the_top_and_through_lists(path: str, expected: Any) -> None:
    assert found(path) == expected


@pytest.mark.parametrize("path", ["", ".", "a.", ".a", "a..b", "$.", "*", ".".join("x" * 21)])
def test_what_is_not_a_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"path|everything"):
        Pattern.parse(path)


def test_a_value_nested_beyond_the_recursion_limit_is_searched() -> None:
    value: Any = {"id": 1}
    for _ in range(3000):
        value = [value]

    assert [spot.value for spot in spots(value, Pattern.parse("id"))] == [1]
