"""Summaries of NSIP's answers: small, and none of the things the origin lost are missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.nsip_flock import RAM
from tests.tools.context.nsip_data import Answers, nsip_answers
from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.tokens import count_json


@pytest.fixture(params=["today", "older"])
def answers(request: pytest.FixtureRequest) -> Answers:
    return nsip_answers(older=request.param == "older")


def summary_of(name: str, data: Any, budget: int = 2000) -> dict[str, Any]:
    """The summary, after what holds for each of them was checked."""
    tokens = count_json(data)
    rules = Rules.from_json({"summary": name})
    result = reduce(data, tokens=tokens, budget=budget, rules=rules)
    assert result is not None
    assert result.tokens == count_json(result.value) == result.value["_summary_token_count"]
    assert result.value["_summarized"] is True
    assert result.value["_original_token_count"] == tokens
    assert result.tokens * 10 <= tokens * 3
    assert isinstance(result.value, dict)
    return result.value


def test_the_ram_has_its_204_lambs_and_its_whole_contact(answers: Answers) -> None:
    # S4-041, S4-045; section E: total_progeny 0, null contact fields dropped, lower-case keys
    summary = summary_of("nsip_animal", answers.animal)

    assert summary["TotalProgeny"] == 204
    assert answers.animal["contact_info"].items() <= summary["Contact"].items()
    assert summary["Sire"] == answers.animal["sire"]
    assert summary["Breed"] == "Katahdin"
    best = sorted(answers.animal["traits"].values(), key=lambda one: -(one["accuracy"] or 0))
    assert [one["accuracy"] for one in summary["TopTraits"]] == [
        one["accuracy"] for one in best[:3]
    ]


def test_every_ancestor_stays_in_its_place_with_its_farm(answers: Answers) -> None:
    # Section E: lpn_id and breed empty
    summary = summary_of("nsip_lineage", answers.lineage)

    assert summary["subject"] == answers.lineage["subject"]
    assert summary["sire"]["lpn_id"] == answers.lineage["sire"]["lpn_id"]
    assert summary["dam"]["lpn_id"] == answers.lineage["dam"]["lpn_id"]
    assert ids_and_farms(summary["generations"]) == ids_and_farms(answers.lineage["generations"])
    assert summary["ancestors"] == sum(map(len, answers.lineage["generations"])) > 10


def ids_and_farms(generations: list[list[dict[str, Any]]]) -> list[list[tuple[str, str]]]:
    return [[(one["lpn_id"], one["farm_name"]) for one in each] for each in generations]


def test_more_room_tells_more_of_each_ancestor(answers: Answers) -> None:
    long = {**answers.lineage, "raw_data": [answers.lineage["raw_data"]] * 4}

    assert summary_of("nsip_lineage", long)["generations"] == answers.lineage["generations"]


@pytest.mark.parametrize("size", [10, 100])
def test_progeny_keep_the_total_and_who_they_are(answers: Answers, size: int) -> None:
    # Section E: everything lost, total 0. F4-07
    page = answers.progeny[size]
    summary = summary_of("nsip_page", page)

    rows = summary["animals"]
    assert summary["total_count"] == 204
    assert summary["page_size"] == size
    assert len(rows) >= min(size, 40)
    assert rows == [
        {key: row[key] for key in ("lpn_id", "sex", "date_of_birth")}
        for row in page["animals"][: len(rows)]
    ]


@pytest.mark.parametrize("size", [15, 100])
def test_found_animals_keep_the_total_and_who_they_are(answers: Answers, size: int) -> None:
    # Section E: everything lost. F4-07
    page = answers.search[size]
    summary = summary_of("nsip_page", page)

    rows = summary["results"]
    assert summary["total_count"] == 900
    assert len(rows) >= min(size, 30)
    for row, original in zip(rows, page["results"], strict=False):
        told = {key.lower(): value for key, value in row.items()}
        assert row.items() <= original.items()
        assert told["lpnid"]
        assert told["status"]
        assert told["gender"]
        assert "dob" in told or "dateofbirth" in told


def test_rows_that_do_not_fit_are_announced_with_their_page(answers: Answers) -> None:
    # F4-07
    summary = summary_of("nsip_page", answers.search[100])

    kept = len(summary["results"])
    assert 20 < kept < 100
    assert summary["_omitted"][0] == {
        "pointer": "/results",
        "kept": kept,
        "total": 100,
        "unit": "items",
        "next": {"pointer": "/results", "page": kept // 20 + 1},
    }


def test_a_profile_has_the_animal_its_ancestors_and_its_first_progeny(answers: Answers) -> None:
    # F4-27; section E: all but total_progeny lost
    profile = answers.profile
    summary = summary_of("nsip_profile", profile)
    animal = summary_of("nsip_animal", profile["details"])

    for key in ("LpnId", "Sire", "Dam", "Breed", "TotalProgeny", "Contact", "TopTraits"):
        assert summary[key] == animal[key]
    assert summary["LpnId"] == RAM
    assert ids_and_farms(summary["Lineage"]["generations"]) == ids_and_farms(
        profile["lineage"]["generations"]
    )
    assert summary["Progeny"] == {
        "total_count": 204,
        "lpn_ids": [row["lpn_id"] for row in profile["progeny"]["animals"]],
    }


def test_a_profile_gives_up_progeny_then_ancestors_then_traits(answers: Answers) -> None:
    # C16
    full = summary_of("nsip_profile", answers.profile)
    seen = []
    for budget in range(full["_summary_token_count"], 200, -20):
        summary = summary_of("nsip_profile", answers.profile, budget)
        seen.append(
            (
                len(summary["TopTraits"]),
                len(summary["Lineage"]["generations"]),
                len(summary["Progeny"]["lpn_ids"]),
            )
        )
        assert summary["Progeny"]["total_count"] == summary["TotalProgeny"] == 204
        assert summary["Contact"] == full["Contact"]

    assert seen == sorted(seen, reverse=True)
    assert seen[0] == (3, 3, 10)
    assert (3, 3, 0) in seen
    assert seen[-1] == (0, 0, 0)


def test_what_a_profile_gives_up_is_announced(answers: Answers) -> None:
    # F4-07
    summary = summary_of("nsip_profile", answers.profile, 500)

    pointers = [entry["next"]["pointer"] for entry in summary["_omitted"]]
    assert pointers == ["/lineage/generations", "/progeny/animals"]


def test_an_animal_without_known_ancestors_has_a_profile_too(answers: Answers) -> None:
    summary = summary_of("nsip_profile", answers.founder)

    assert summary["LpnId"] == answers.founder["details"]["lpn_id"]
    assert summary["Lineage"] == {"generations": []}
    assert summary["TotalProgeny"] == answers.founder["progeny"]["total_count"]


@pytest.mark.parametrize("unknown", [None, 0])
def test_a_profile_takes_the_number_of_progeny_from_their_page(
    answers: Answers, unknown: int | None
) -> None:
    # Section E: total_progeny 0 of a ram with 204
    details = {**answers.profile["details"], "total_progeny": unknown, "raw_data": {}}
    summary = summary_of("nsip_profile", {**answers.profile, "details": details})

    assert summary["TotalProgeny"] == summary["Progeny"]["total_count"] == 204


@pytest.mark.parametrize("name", ["nsip_lineage", "nsip_page", "nsip_profile"])
@pytest.mark.parametrize(
    "odd",
    [
        ["row " * 10] * 500,
        {"animals": [{"no": "identifier " * 20}] * 100},
        {"results": "text " * 3000},
        {"details": "x " * 3000, "lineage": 7, "progeny": None},
        {"subject": {"lpn_id": ""}, "generations": [["x" * 50] * 900]},
    ],
)
def test_answers_of_another_kind_are_cut_by_their_shape(name: str, odd: Any) -> None:
    result = reduce(odd, tokens=count_json(odd), budget=2000, rules=Rules(summary=name))

    assert result is not None
    assert "_summarized" not in result.value
    assert result.value["_omitted"]


def test_a_page_too_full_for_a_summary_is_cut_by_its_shape() -> None:
    rows = [{"lpn_id": f"640149{n:010d}"} for n in range(500)]
    page = {"total_count": 500, "animals": rows}
    result = reduce(page, tokens=count_json(page), budget=2000, rules=Rules(summary="nsip_page"))

    assert result is not None
    assert result.value["total_count"] == 500
    assert result.value["animals"] == rows[: len(result.value["animals"])]
    assert len(result.value["animals"]) > 50
