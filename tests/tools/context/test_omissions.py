"""The note about what was left out."""

from __future__ import annotations

from tools.context.omissions import Omission, pointer, report


def test_one_cut_is_reported_with_its_pointer_and_counts() -> None:
    cut = [Omission(("records",), 12, 200, "items")]

    assert report(cut, 8) == [{"pointer": "/records", "kept": 12, "total": 200, "unit": "items"}]


def test_the_same_cut_in_many_items_is_one_entry() -> None:
    cuts = [Omission(("records", n, "notes"), 10, 100, "characters") for n in range(5)]

    assert report(cuts, 8) == [
        {"pointer": "/records/*/notes", "places": 5, "kept": 50, "total": 500, "unit": "characters"}
    ]


def test_outermost_places_come_first_and_the_rest_is_counted() -> None:
    cuts = [Omission(("map", f"k{n}"), 1, 2, "keys") for n in range(10)]
    cuts.append(Omission(("map",), 10, 50, "keys"))

    assert report(cuts, 2) == [
        {"pointer": "/map", "kept": 10, "total": 50, "unit": "keys"},
        {"pointer": "/map/k0", "kept": 1, "total": 2, "unit": "keys"},
        {"further_places": 9},
    ]


def test_pointers_escape_what_rfc_6901_escapes() -> None:
    assert pointer(()) == ""
    assert pointer(("a/b", "c~d", 3)) == "/a~1b/c~0d/3"
