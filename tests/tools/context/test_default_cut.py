"""What is done to answers nobody wrote rules for: who a thing is stays before what describes it."""

from __future__ import annotations

import json
from typing import Any

from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.tokens import count_json

NOTE = "Grazes on the northern pasture and was seen by the vet in spring. "


def reduced(value: Any, budget: int = 2000) -> Any:
    result = reduce(value, tokens=count_json(value), budget=budget, rules=Rules())
    assert result is not None
    assert result.tokens == count_json(result.value)
    return result.value


def test_identifiers_and_names_stay_before_other_fields() -> None:
    # F4-06
    person = {f"detail{n:03d}": f"{n:04d} and a little more" for n in range(300)}
    value = {**person, "status": "CURRENT", "birthDate": "2024-02-13", "name": "Ada", "userId": 7}
    cut = reduced(value, 200)

    kept = [key for key in cut if key != "_omitted"]
    assert kept[-4:] == ["status", "birthDate", "name", "userId"]
    assert all(cut[key] == value[key] for key in kept)
    assert len(kept) < 100


def test_of_long_records_at_least_who_they_are_is_told() -> None:
    record = {f"measure{n}": n / 7 for n in range(200)}
    value = {"items": [{**record, "id": n, "name": f"Probe {n}"} for n in range(30)]}

    kept = reduced(value)["items"]

    assert [(item["id"], item["name"]) for item in kept] == [
        (n, f"Probe {n}") for n in range(len(kept))
    ]
    assert len(kept) >= 5


def test_an_address_of_an_item_is_whole_or_gone() -> None:
    url = "https://example.org/" + "path/" * 40
    value = {"items": [{"url": f"{url}{n}", "text": NOTE * 20} for n in range(40)]}

    kept = reduced(value)["items"]

    assert kept
    assert all(item["url"] == f"{url}{n}" for n, item in enumerate(kept) if "url" in item)


def test_a_long_list_says_how_many_there_are_and_where_the_next_page_begins() -> None:
    # F4-07
    rows = [{"id": n, "name": f"Animal {n}"} for n in range(900)]
    cut = reduced({"recordCount": 900, "records": rows})

    kept = len(cut["records"])
    assert cut["recordCount"] == 900
    assert cut["records"] == rows[:kept]
    assert kept > 40
    assert cut["_omitted"] == [
        {
            "pointer": "/records",
            "kept": kept,
            "total": 900,
            "unit": "items",
            "next": {"pointer": "/records", "page": kept // 20 + 1},
        }
    ]


def test_long_texts_end_with_a_sentence_and_a_mark() -> None:
    value = {"title": "Report", "body": NOTE * 1000}
    cut = reduced(value)

    assert cut["title"] == "Report"
    assert cut["body"].endswith("spring.…")
    assert value["body"].startswith(cut["body"][:-1])


def test_the_pages_of_a_text_go_on_where_it_was_cut() -> None:
    value = {"body": NOTE * 5000}
    cut = reduced(value, 20_000)

    entry = cut["_omitted"][0]
    assert entry["next"] == {"pointer": "/body", "page": entry["kept"] // 8000 + 1}
    assert entry["next"]["page"] > 1


def test_the_shape_stays_json_of_the_same_kinds() -> None:
    value = {"a": {"b": [[{"c": NOTE * 9, "d": [1, 2.5, None, True]}] * 40] * 3}, "e": None}
    cut = reduced(value)

    assert json.loads(json.dumps(cut)) == cut
    assert cut["e"] is None
    assert cut["a"]["b"][0][0]["d"] == [1, 2.5, None, True]
