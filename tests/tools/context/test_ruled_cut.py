"""Answers cut by the rules of their operation."""

from __future__ import annotations

from typing import Any

import pytest

from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.tokens import count_json
from tools.errors import SummarizationFailed

NOTE = "Grazes on the northern pasture and was seen by the vet in spring. "


def reduced(value: Any, budget: int = 2000, **rules: Any) -> Any:
    tokens = count_json(value)
    result = reduce(value, tokens=tokens, budget=budget, rules=Rules.from_json(rules))
    assert result is not None
    assert result.tokens == count_json(result.value)
    assert result.tokens * 10 <= tokens * 3
    return result.value


def pets(number: int = 100) -> dict[str, Any]:
    return {
        "owner": {"name": "Ada", "contact": {"phone": "+1 555 0100", "fax": None}},
        "raw": {"body": NOTE * 100},
        "pets": [
            {"id": n, "weight": (n * 37) % 101, "story": NOTE * 2, "contact": f"keeper {n}"}
            for n in range(number)
        ],
    }


def test_what_is_dropped_goes_first_and_is_reported() -> None:
    value = {"raw": NOTE * 400, "inner": {"raw": NOTE}, "text": NOTE * 5}
    cut = reduced(value, drop=["raw"])

    assert cut == {
        "inner": {},
        "text": NOTE * 5,
        "_omitted": [
            {"pointer": "", "kept": 2, "total": 3, "unit": "keys", "next": {"pointer": ""}},
            {
                "pointer": "/inner",
                "kept": 0,
                "total": 1,
                "unit": "keys",
                "next": {"pointer": "/inner"},
            },
        ],
    }


def test_reading_on_begins_with_what_was_dropped() -> None:
    value = {"raw": NOTE * 20, **{f"field{n:03d}": n for n in range(400)}}
    entry = reduced(value, 600, drop=["raw"])["_omitted"][0]

    assert entry["kept"] > 20
    assert entry["total"] == 401
    assert entry["next"] == {"pointer": ""}


def test_a_path_drops_one_place_only() -> None:
    cut = reduced({"raw": NOTE * 400, "inner": {"raw": NOTE}}, drop=["$.raw"])

    assert cut["inner"] == {"raw": NOTE}
    assert "raw" not in cut


def test_what_is_kept_by_its_path_stays_whole_and_the_same_name_elsewhere_need_not() -> None:
    value = pets()
    cut = reduced(value, 400, keep=["owner.contact"])

    assert cut["owner"]["contact"] == value["owner"]["contact"]
    assert len(cut["pets"]) < 100


def test_what_is_kept_by_its_name_stays_everywhere() -> None:
    value = pets()
    cut = reduced(value, keep=["contact"])

    assert [pet["contact"] for pet in cut["pets"]] == [pet["contact"] for pet in value["pets"]]


def test_keeping_wins_over_dropping() -> None:
    value = pets()
    cut = reduced(value, 600, keep=["owner.contact", "raw"], drop=["owner", "$.raw", "pets"])

    assert cut["owner"]["contact"] == value["owner"]["contact"]
    assert cut["raw"] == value["raw"]
    assert "pets" not in cut


@pytest.mark.parametrize("rule", ["owner", "owner.contact", "contact"])
def test_nothing_is_taken_out_of_what_is_kept(rule: str) -> None:
    value = pets()
    value["owner"]["contact"]["lines"] = [{"n": n, "fax": n} for n in range(3)]
    chosen = [{"path": "lines", "by": "n", "count": 1}]
    cut = reduced(value, 900, keep=[rule], drop=["fax", "phone"], top=chosen)

    assert cut["owner"]["contact"] == value["owner"]["contact"]


def test_a_list_that_is_kept_whole_is_whole() -> None:
    value = {"codes": [f"C{n:03d}" for n in range(100)], "pets": pets(200)["pets"]}
    cut = reduced(value, whole=["codes"])

    assert cut["codes"] == value["codes"]
    assert len(cut["pets"]) < 100


def test_the_best_of_a_list_stay_best_first() -> None:
    value = pets()
    cut = reduced(value, top=[{"path": "pets", "by": "weight", "count": 3}])

    assert [pet["weight"] for pet in cut["pets"]] == [100, 99, 98]
    assert all(value["pets"][pet["id"]] == pet for pet in cut["pets"])
    assert {
        "pointer": "/pets",
        "kept": 3,
        "total": 100,
        "unit": "items",
        "next": {"pointer": "/pets"},
    } in cut["_omitted"]


def test_none_below_the_floor_is_among_the_best() -> None:
    rule = {"path": "data.traits", "by": "accuracy", "count": 3, "floor": 50}
    traits = [
        {"n": "a", "accuracy": 49.9},
        {"n": "b", "accuracy": 50},
        {"n": "c"},
        {"n": "d", "accuracy": None},
    ]
    cut = reduced({"data": {"traits": traits}, "bulk": [NOTE] * 200}, top=[rule])

    assert cut["data"]["traits"] == [{"n": "b", "accuracy": 50}]


def test_equals_stay_in_their_order_and_entries_of_objects_can_be_chosen_too() -> None:
    rule = {"path": "traits", "by": "a.b", "count": 2}
    traits = {name: {"a": {"b": score}} for name, score in zip("wxyz", (1, 5, 2, 5), strict=True)}
    cut = reduced({"traits": traits, "bulk": [NOTE] * 200}, top=[rule])

    assert list(cut["traits"]) == ["x", "z"]


def test_the_best_go_one_by_one_when_there_is_no_room_for_all_of_them() -> None:
    # C16: trimmed in steps, never inside.
    value = pets()
    cut = reduced(value, 250, top=[{"path": "pets", "by": "weight", "count": 10}], drop=["$.raw"])

    kept = [pet["weight"] for pet in cut["pets"]]
    assert 0 < len(kept) < 10
    assert kept == [100, 99, 98, 97, 96, 95, 94, 93, 92, 91][: len(kept)]
    assert all(value["pets"][pet["id"]] == pet for pet in cut["pets"])


def test_places_inside_the_best_are_those_of_the_original() -> None:
    items = [{"score": n, "text": NOTE * 200} for n in range(10)]
    cut = reduced({"items": items}, top=[{"path": "items", "by": "score", "count": 1}])

    pointers = [entry["pointer"] for entry in cut["_omitted"]]
    assert pointers == ["/items", "/items/9/text"]
    assert cut["items"][0]["score"] == 9


def test_the_best_of_the_best_have_their_places_in_the_original_too() -> None:
    items = [{"a": n % 10, "b": -n, "text": NOTE * 200} for n in range(20)]
    first = {"path": "items", "by": "a", "count": 2}
    cut = reduced({"items": items}, top=[first, {"path": "items", "by": "b", "count": 1}])

    assert cut["items"][0]["b"] == -9
    assert cut["_omitted"][1]["pointer"] == "/items/9/text"
    assert cut["_omitted"][0]["total"] == 20


def test_a_list_of_which_all_are_chosen_is_not_reported() -> None:
    value = {"few": [{"n": 1}, {"n": 2}], "bulk": [NOTE] * 300}
    cut = reduced(value, top=[{"path": "few", "by": "n", "count": 5}])

    assert cut["few"] == [{"n": 2}, {"n": 1}]
    assert [entry["pointer"] for entry in cut["_omitted"]] == ["/bulk"]


def test_what_was_dropped_from_a_part_that_is_gone_is_not_reported_on_its_own() -> None:
    items = [{"id": n, "raw": {"secret": 1, "text": NOTE}} for n in range(300)]
    cut = reduced({"items": items}, drop=["secret"])

    kept = len(cut["items"])
    inner = next(entry for entry in cut["_omitted"] if entry["pointer"] == "/items/*/raw")
    assert kept < 100
    assert inner["places"] == kept


def test_the_best_of_objects_in_objects_are_chosen_too() -> None:
    inner = {"records": {"x": {"n": 1}, "y": {"n": 2}}, "n": 5}
    value = {"records": {"a": inner, "b": {"records": [3, 1, 2], "n": 7}}, "bulk": [NOTE] * 300}
    cut = reduced(value, top=[{"path": "records", "by": "n", "count": 1}])

    assert cut["records"] == {"b": {"records": [3], "n": 7}}
    assert [(entry["pointer"], entry["total"]) for entry in cut["_omitted"]] == [
        ("/records", 2),
        ("/bulk", 300),
        ("/records/b/records", 3),
    ]


def test_what_was_dropped_is_reported_at_its_place_in_the_original() -> None:
    items = [{"n": n, "raw": NOTE} for n in range(9)]
    cut = reduced(
        {"items": items, "bulk": [NOTE] * 300},
        drop=["raw"],
        top=[{"path": "items", "by": "n", "count": 1}],
    )

    assert cut["items"] == [{"n": 8}]
    assert "/items/8" in [entry["pointer"] for entry in cut["_omitted"]]


def test_a_paged_list_has_whole_items() -> None:
    items = [{"id": n, "text": NOTE * 40, "more": [NOTE] * 3} for n in range(50)]
    value = {"items": items}

    cut = reduced(value, page=["items"])["items"]

    assert len(cut) > 1
    assert cut == items[: len(cut)]
    assert len(cut) < len(reduced(value)["items"])


def test_items_too_large_for_a_page_are_cut_rather_than_lost() -> None:
    cut = reduced({"items": [{"id": n, "text": NOTE * 900} for n in range(4)]}, page=["items"])

    assert cut["items"][0]["id"] == 0
    assert cut["items"][0]["text"].startswith(NOTE)


def test_what_must_be_kept_and_is_too_large_fails_with_a_suggestion() -> None:
    # C16, S4-063
    with pytest.raises(SummarizationFailed) as raised:
        reduced(pets(), whole=["pets"])

    assert "smaller page" in str(raised.value.details.suggestion)


def test_rules_for_what_is_not_there_change_nothing() -> None:
    value = pets()

    assert reduced(value, keep=["absent.x"], drop=["gone"], page=["no.list"]) == reduced(value)


def test_the_original_is_not_changed() -> None:
    value = pets()
    reduced(value, drop=["raw"], top=[{"path": "pets", "by": "weight", "count": 3}])

    assert value == pets()


def test_parts_that_are_one_object_in_memory_are_cut_by_their_places() -> None:
    shared = {"notes": NOTE, "id": 1}
    value = {"first": shared, "second": shared, "bulk": [NOTE] * 200}

    cut = reduced(value, drop=["first.notes"])

    assert cut["first"] == {"id": 1}
    assert cut["second"] == {"notes": NOTE, "id": 1}
