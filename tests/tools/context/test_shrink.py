"""Shortening answers as they come from tools: what stays, what goes, what is said about it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typing_extensions import override

from tools.context.shrink import ShrinkResult, shrink
from tools.context.tokens import count_json
from tools.errors import ErrorCode, SummarizationFailed

NOTE = "Grazes on the northern pasture and was seen by the vet in spring. "


def animal(number: int) -> dict[str, Any]:
    return {
        "LpnId": f"6401492020FLE{number:03d}",
        "born": "2024-02-13",
        "traits": {"BWT": 0.378, "WWT": 1.21, "FAT": -0.05},
        "notes": NOTE * (1 + number % 7),
    }


def search(animals: int) -> dict[str, Any]:
    return {"recordCount": animals, "records": [animal(n) for n in range(animals)]}


def reduction(value: Any, result: ShrinkResult) -> float:
    before = count_json(value)
    return (before - result.tokens) / before


def test_the_count_is_that_of_the_shortened_json() -> None:
    result = shrink(search(200), budget=2000)

    assert result.tokens == count_json(result.value)


def test_a_long_list_keeps_its_first_items_whole_and_says_how_many_there_were() -> None:
    value = search(200)
    result = shrink(value, budget=2000)

    kept = result.value["records"]
    assert result.value["recordCount"] == 200
    assert len(kept) >= 5
    assert kept == value["records"][: len(kept)]
    assert result.value["_omitted"] == [
        {"pointer": "/records", "kept": len(kept), "total": 200, "unit": "items"}
    ]


@pytest.mark.parametrize("animals", [15, 40, 200, 2000])
def test_every_size_ends_within_budget_and_at_least_70_percent_smaller(animals: int) -> None:
    # S4-033, S4-039, C16, F4-05
    value = search(animals)
    result = shrink(value, budget=2000)

    assert count_json(value) > 1500
    assert result.tokens <= 2000
    assert reduction(value, result) >= 0.70


@pytest.mark.parametrize("animals", [15, 40, 200])
def test_the_room_there_is_gets_used(animals: int) -> None:
    value = search(animals)
    target = min(2000, int(count_json(value) * 0.3))

    assert shrink(value, budget=2000).tokens >= target * 0.8


@pytest.mark.parametrize("budget", [500, 2000, 20_000])
def test_deep_and_even_trees_use_the_room_too(budget: int) -> None:
    def tree(depth: int) -> dict[str, Any]:
        if depth == 0:
            return {f"f{n}": n / 7 for n in range(6)}
        return {f"n{n}": tree(depth - 1) for n in range(4)}

    result = shrink(tree(6), budget=budget)

    assert budget * 0.5 <= result.tokens <= budget


def test_a_payload_of_3500_tokens_ends_at_1050_or_below_with_its_preserved_fields() -> None:
    # F4-05
    value = search(60)
    while count_json(value) > 3500:
        value["records"].pop()
    contact = {"farmName": "Beispielhof", "phone": "+1 555 0100", "email": "a@b.example"}
    value["contactInfo"] = contact

    result = shrink(value, budget=2000, preserve=["contactInfo"])

    assert 3300 < count_json(value) < 3700
    assert result.tokens <= count_json(value) * 0.3
    assert result.value["contactInfo"] == contact


def test_collections_are_not_emptied() -> None:
    # T13: the origin reached its 70 % by losing every record.
    result = shrink(search(100), budget=2000)

    assert result.value["recordCount"] == 100
    assert all("LpnId" in record for record in result.value["records"])
    assert result.value["records"]


def test_preserved_keys_stay_in_every_record_when_their_number_allows() -> None:
    # C16: never drops preserve-list fields.
    value = search(300)
    result = shrink(value, budget=2000, preserve=["LpnId"])

    assert [record["LpnId"] for record in result.value["records"]] == [
        record["LpnId"] for record in value["records"]
    ]
    assert result.value["recordCount"] == 300
    assert result.tokens > 2000  # the budget gives way to what must be kept …
    assert reduction(value, result) >= 0.70  # … the reduction does not


def test_a_preserved_key_stays_though_smaller_ones_before_it_would_fill_the_room() -> None:
    # C16
    contact = {"address": NOTE * 5}
    value = {**{f"field{n}": n for n in range(3000)}, "contact": contact}
    result = shrink(value, budget=200, preserve=["contact"])

    assert result.value["contact"] == contact
    assert result.tokens <= 200


def test_preserved_parts_above_30_percent_fail_with_a_suggestion_to_ask_for_less() -> None:
    # C16, S4-063
    value = search(100)

    with pytest.raises(SummarizationFailed) as raised:
        shrink(value, budget=2000, preserve=["notes"])

    assert raised.value.mcp_code == -32002
    assert raised.value.code is ErrorCode.EXECUTION_ERROR
    assert "smaller page" in str(raised.value.details.suggestion)
    assert "tokens" in str(raised.value.details.expected)


def test_a_long_text_keeps_its_beginning() -> None:
    text = NOTE * 1000
    result = shrink({"title": "Report", "body": text}, budget=2000)

    body = result.value["body"]
    assert result.value["title"] == "Report"
    assert body.endswith("…")
    assert text.startswith(body[:-1])
    assert result.value["_omitted"] == [
        {"pointer": "/body", "kept": len(body) - 1, "total": len(text), "unit": "characters"}
    ]


def test_identifiers_are_never_cut() -> None:
    value = {"ids": [f"urn:uuid:{n:032x}" for n in range(1000)]}
    result = shrink(value, budget=500)

    kept = result.value["ids"]
    assert kept
    assert kept == value["ids"][: len(kept)]


def test_a_few_long_documents_are_all_shortened_rather_than_dropped() -> None:
    documents = [{"id": n, "score": 0.5, "text": NOTE * 60} for n in range(5)]
    result = shrink({"query": "pasture", "documents": documents}, budget=2000)

    kept = result.value["documents"]
    assert [document["id"] for document in kept] == [0, 1, 2, 3, 4]
    assert all(document["text"].startswith(NOTE) for document in kept)
    assert result.value["_omitted"] == [
        {
            "pointer": "/documents/*/text",
            "places": 5,
            "kept": sum(len(document["text"]) - 1 for document in kept),
            "total": 5 * len(NOTE) * 60,
            "unit": "characters",
        }
    ]


def test_an_object_keeps_all_its_keys_when_their_values_can_shrink() -> None:
    value = {f"section{n}": [NOTE * 3] * 50 for n in range(20)}
    result = shrink(value, budget=2000)

    assert list(result.value) == [*value, "_omitted"]


def test_a_large_map_keeps_its_first_entries_and_says_how_many_there_were() -> None:
    value = {f"animal{n}": animal(n) for n in range(500)}
    result = shrink(value, budget=2000)

    kept = [key for key in result.value if key != "_omitted"]
    assert kept == list(value)[: len(kept)]
    assert all(result.value[key] == value[key] for key in kept)
    assert result.value["_omitted"] == [
        {"pointer": "", "kept": len(kept), "total": 500, "unit": "keys"}
    ]


def test_a_list_at_the_top_is_wrapped_as_the_envelope_wraps_it() -> None:
    value = [animal(n) for n in range(300)]
    result = shrink(value, budget=2000)

    assert list(result.value) == ["result", "_omitted"]
    assert result.value["result"] == value[: len(result.value["result"])]
    assert result.value["_omitted"][0]["pointer"] == ""


def test_a_text_at_the_top_is_wrapped_and_cut_at_a_word() -> None:
    result = shrink(NOTE * 500, budget=300)

    assert result.tokens <= 300
    assert result.value["result"][:-1].split(" ")[-1] in NOTE.split(" ")


def test_a_key_of_the_same_name_as_the_report_is_not_overwritten() -> None:
    value = {"_omitted": "mine", "records": [animal(n) for n in range(100)]}
    result = shrink(value, budget=2000)

    assert result.value["_omitted"] == "mine"
    assert result.value["__omitted"][0]["pointer"] == "/records"


def test_pointers_in_the_report_lead_into_the_original() -> None:
    value = {"a/b": {"c~d": ["x" * 90] * 500}}
    result = shrink(value, budget=300)

    assert result.value["_omitted"][0]["pointer"] == "/a~1b/c~0d"
    assert result.value["_omitted"][0]["total"] == 500


def test_texts_outside_ascii_are_cut_between_characters() -> None:
    text = "羊は草を食べる。😀" * 400
    result = shrink({"text": text}, budget=400)

    assert result.tokens <= 400
    assert text.startswith(result.value["text"][:-1])
    assert len(result.value["text"]) > 20


def test_one_outsized_key_does_not_push_the_others_out() -> None:
    value = {"k" * 50_000: 1, **{f"field{n}": n for n in range(2000)}}
    result = shrink(value, budget=500)

    assert result.value["field0"] == 0
    assert len(result.value) > 50


def test_values_nested_beyond_any_use_are_cut_without_recursing_for_ever() -> None:
    value: Any = NOTE * 200
    for _ in range(400):
        value = {"inner": value, "side": [1, 2, 3]}
    result = shrink(value, budget=2000)

    assert result.tokens <= count_json(value) * 0.3
    assert result.value["side"] == [1, 2, 3]


def test_a_preserved_key_below_the_deepest_cut_stays() -> None:
    value: Any = {"id": "kept", "notes": "short"}
    for _ in range(150):
        value = {"inner": value}
    value["bulk"] = [NOTE] * 500
    found = shrink(value, budget=2000, preserve=["id"]).value
    for _ in range(150):
        found = found["inner"]

    assert found["id"] == "kept"


def test_a_preserved_key_in_lists_below_the_deepest_cut_stays() -> None:
    value: Any = [{"id": "kept"}]
    for _ in range(150):
        value = [value]
    result = shrink({"lists": value, "bulk": [NOTE] * 500}, budget=2000, preserve=["id"])

    assert result.value["lists"] == value


def test_preserving_keys_of_a_lone_text_changes_nothing() -> None:
    assert shrink(NOTE * 200, budget=300, preserve=["id"]) == shrink(NOTE * 200, budget=300)


def test_a_preserved_item_far_down_a_list_stays_with_its_neighbours_gone() -> None:
    value = {"items": [{"n": n, "text": NOTE * 3} for n in range(200)]}
    value["items"][150]["contact"] = "keep me"
    result = shrink(value, budget=1000, preserve=["contact"])

    assert [item["contact"] for item in result.value["items"] if "contact" in item] == ["keep me"]
    assert result.value["items"][0]["n"] == 0
    assert len(result.value["items"]) < 50


def test_tuples_and_keys_that_are_numbers_are_taken_as_json_takes_them() -> None:
    value = {7: tuple(range(3000)), "x": NOTE * 50}
    result = shrink(value, budget=500)

    written = json.loads(json.dumps(result.value))
    assert written["7"] == list(range(len(written["7"])))
    assert result.tokens <= 500


def test_what_cannot_be_shortened_at_all_fails() -> None:
    with pytest.raises(SummarizationFailed):
        shrink(10**4000, budget=100)


def test_a_little_room_still_gives_a_valid_answer() -> None:
    value = {"list": list(range(200))}
    result = shrink(value, budget=8)

    assert result.value["_omitted"]
    assert result.tokens <= count_json(value) * 0.3


def test_the_caller_may_bring_the_count_along() -> None:
    value = search(50)

    assert shrink(value, budget=2000, tokens=count_json(value)) == shrink(value, budget=2000)


def test_another_reduction_can_be_asked_for() -> None:
    value = search(50)
    result = shrink(value, budget=10**6, reduction=0.5)

    assert 0.5 <= reduction(value, result) < 0.7


def test_parts_that_are_one_object_in_memory_are_shortened_like_copies_of_it() -> None:
    record = {"a": [{"id": 1, "x": [NOTE, {"y": 5}]}, [[], {"id": None}]], "b": {"c": [NOTE] * 9}}
    shared = {"total": 90, "records": [record] * 90}
    copied = json.loads(json.dumps(shared))

    for budget in range(300, 3000, 150):
        for preserve in ((), ("id",)):
            assert shrink(shared, budget=budget, preserve=preserve) == shrink(
                copied, budget=budget, preserve=preserve
            )


def test_the_original_is_not_changed() -> None:
    value = search(50)
    before = json.dumps(value)
    shrink(value, budget=2000, preserve=["LpnId"])

    assert json.dumps(value) == before


def test_only_the_parts_that_may_stay_are_looked_at_closely() -> None:
    class Watched(dict[str, Any]):
        looked_at = 0

        @override
        def values(self) -> Any:
            Watched.looked_at += 1
            return super().values()

    value = {"records": [Watched(animal(n)) for n in range(5000)]}
    tokens = count_json(value)
    Watched.looked_at = 0
    shrink(value, budget=2000, tokens=tokens)

    assert 0 < Watched.looked_at < 1000
