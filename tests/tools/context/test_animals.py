"""The short form of an animal, as the data model has it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from tools.context.animals import SummarizedAnimalResponse
from tools.context.forms import NotOfThisKind
from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.tokens import count_json
from tools.errors import SummarizationFailed

CONTACT = {
    "farm_name": "Fleur Ridge",
    "contact_name": "Anna Fleur",
    "phone": None,
    "email": "anna@fleur.example",
    "address": None,
    "city": "Blacksburg",
    "state": "VA",
    "zip_code": None,
}
KEYS = ["LpnId", "Sire", "Dam", "Breed", "TotalProgeny", "Contact", "TopTraits"]
COUNTS = ["_summarized", "_original_token_count", "_summary_token_count"]


def details(**changes: Any) -> dict[str, Any]:
    """An animal as `AnimalDetails.to_dict()` of nsip-client gives it, with a long tail."""
    traits = {
        f"T{n:02d}": {"name": f"T{n:02d}", "value": n / 10, "accuracy": n, "units": None}
        for n in range(40, 60)
    }
    animal = {
        "lpn_id": "6401492020FLE249",
        "breed": "Katahdin",
        "breed_group": "Hair",
        "date_of_birth": "2/13/2020",
        "gender": "Female",
        "status": "CURRENT",
        "sire": "6401492018FLE202",
        "dam": "6401492018FLE101",
        "registration_number": "FLE20249",
        "total_progeny": 204,
        "flock_count": 1,
        "genotyped": "No",
        "traits": traits,
        "contact_info": CONTACT,
        "raw_data": {"data": {"progenyCount": 204, "notes": [f"line {n}" for n in range(500)]}},
    }
    return {**animal, **changes}


def summary_of(animal: dict[str, Any], budget: int = 2000, **rules: Any) -> dict[str, Any]:
    result = reduce(
        animal,
        tokens=count_json(animal),
        budget=budget,
        rules=Rules.from_json({"summary": "nsip_animal", **rules}),
    )
    assert result is not None
    assert result.tokens == count_json(result.value)
    assert isinstance(result.value, dict)
    return result.value


def test_the_summary_has_exactly_the_keys_of_the_data_model() -> None:
    # S4-041, S4-042, S4-050, S4-052, F4-06
    assert list(summary_of(details())) == [*KEYS, *COUNTS]


def test_the_summary_says_that_it_is_one_and_both_sizes() -> None:
    # S4-043
    animal = details()
    summary = summary_of(animal)

    assert summary["_summarized"] is True
    assert summary["_original_token_count"] == count_json(animal)
    assert summary["_summary_token_count"] == count_json(summary)


def test_the_preserved_fields_are_those_of_the_animal() -> None:
    # S4-041. The origin gave 0 for the progeny of a ram with 204.
    summary = summary_of(details())

    assert [summary[key] for key in KEYS[:5]] == [
        "6401492020FLE249",
        "6401492018FLE202",
        "6401492018FLE101",
        "Katahdin",
        204,
    ]
    assert [trait["name"] for trait in summary["TopTraits"]] == ["T59", "T58", "T57"]


def test_the_contact_has_all_fields_null_ones_too() -> None:
    # S4-045
    assert summary_of(details())["Contact"] == CONTACT


def test_fields_of_the_contact_that_the_client_does_not_know_stay() -> None:
    # S4-045
    original = {
        "flockCode": "640149",
        "farmName": "Fleur Ridge",
        "customerName": "Anna Fleur",
        "fax": None,
    }
    raw = {"data": {"contactInfo": original, "notes": [NOTE] * 200}}
    contact = summary_of(details(raw_data=raw))["Contact"]

    assert contact == {**CONTACT, "flockCode": "640149", "fax": None}
    assert summary_of(details(raw_data=raw, contact_info=None))["Contact"] == original
    assert summary_of(details(contact_info=None))["Contact"] is None


NOTE = "seen by the vet"


@pytest.mark.parametrize(
    ("changes", "total"),
    [
        ({"total_progeny": None}, 204),
        ({"total_progeny": 0, "raw_data": {"pad": [NOTE] * 400}}, 0),
        ({"total_progeny": "17"}, 17),
        ({"total_progeny": None, "raw_data": {"pad": [NOTE] * 400}}, None),
    ],
)
def test_the_number_of_progeny_is_never_made_up(changes: dict[str, Any], total: int | None) -> None:
    assert summary_of(details(**changes))["TotalProgeny"] == total


def test_metadata_is_there_only_when_it_is_asked_for() -> None:
    # S4-051
    summary = summary_of(details(), metadata=True)

    assert list(summary) == [*KEYS, "Metadata", *COUNTS]
    assert summary["Metadata"] == {
        "breed_group": "Hair",
        "date_of_birth": "2/13/2020",
        "gender": "Female",
        "status": "CURRENT",
        "registration_number": "FLE20249",
        "flock_count": 1,
        "genotyped": "No",
    }


def test_traits_go_one_by_one_and_preserved_fields_never() -> None:
    # C16
    full = summary_of(details())
    sizes = set()
    for budget in range(full["_summary_token_count"], 100, -5):
        summary = summary_of(details(), budget)
        sizes.add(len(summary["TopTraits"]))
        assert summary["TopTraits"] == full["TopTraits"][: len(summary["TopTraits"])]
        assert [summary[key] for key in KEYS[:6]] == [full[key] for key in KEYS[:6]]

    assert sizes == {0, 1, 2, 3}


def test_preserved_fields_that_are_too_large_fail_with_a_suggestion() -> None:
    # C16, S4-063
    contact = {f"field{n}": f"{n} {NOTE}" for n in range(400)}

    with pytest.raises(SummarizationFailed) as raised:
        summary_of(details(contact_info=contact))

    assert raised.value.details.suggestion


@pytest.mark.parametrize("missing", [{"lpn_id": ""}, {"breed": None}, {"lpn_id": None}])
def test_what_is_no_animal_is_cut_by_its_shape(missing: dict[str, Any]) -> None:
    # S4-044: never a summary without an identifier or a breed.
    cut = summary_of(details(**missing), drop=["raw_data"])

    assert "_summarized" not in cut
    assert cut["sire"] == "6401492018FLE202"
    assert cut["_omitted"]


@pytest.mark.parametrize(
    "odd", [7, None, "text " * 2000, [1] * 3000, {"details": ["x" * 20] * 500}]
)
def test_anything_else_than_an_animal_does_not_break_it(odd: Any) -> None:
    result = reduce(
        odd, tokens=count_json(odd), budget=2000, rules=Rules.from_json({"summary": "nsip_animal"})
    )

    assert result is None or "_omitted" in result.value


def test_the_model_refuses_what_it_must_not_hold() -> None:
    # S4-044, S4-046, S4-047
    good: dict[str, Any] = {"lpn_id": "6401492020FLE249", "breed": "Katahdin"}
    trait = {"name": "BWT", "value": 1, "accuracy": 50}

    assert SummarizedAnimalResponse(**good, top_traits=(trait,) * 3).top_traits
    for wrong in (
        {"lpn_id": " "},
        {"breed": ""},
        {"top_traits": (trait,) * 4},
        {"top_traits": ({**trait, "accuracy": 49},)},
        {"top_traits": ({"name": "BWT"},)},
    ):
        with pytest.raises(ValueError, match=r"empty|top trait"):
            SummarizedAnimalResponse(**{**good, **wrong})


def test_the_model_is_made_from_details_and_cannot_be_changed() -> None:
    # S4-042, S4-043, S4-089
    animal = details()
    summary = SummarizedAnimalResponse.create(animal, count_json(animal))

    assert summary.to_dict() == summary_of(animal)
    with pytest.raises(FrozenInstanceError):
        summary.lpn_id = "other"  # type: ignore[misc]
    with pytest.raises(NotOfThisKind):
        SummarizedAnimalResponse.create({"lpn_id": ""}, 10)


def test_the_model_chooses_top_traits_as_the_seed_names_it() -> None:
    # S4-048
    traits = [{"name": "A", "accuracy": 90}, {"name": "B", "accuracy": 20}]

    assert SummarizedAnimalResponse.select_top_traits(traits) == traits[:1]
