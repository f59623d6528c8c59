"""What stays of the NSIP tools' answers when they are too long: none of what must be kept is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.nsip.calls import TOOLS, call, spec_of
from tests.nsip_flock import CONTACTS, EWE, RAM, flock
from tests.nsip_server import NsipServer
from tools.context.animals import SummarizedAnimalResponse
from tools.context.tokens import count
from tools.execution.budget import Budgeted, apply_budget


async def kept(encoded: str) -> bool:
    return True


async def answered(server: NsipServer, name: str, **arguments: Any) -> Budgeted:
    """The tool's answer as a caller gets it."""
    data = await call(server, name, **arguments)
    spec = spec_of(TOOLS[name], server)
    return await apply_budget(spec, data, json.dumps(data), request_id="r", keep=kept)


def is_small_enough(answer: Budgeted) -> bool:
    assert answer.tokens_before is not None
    assert answer.tokens_after is not None
    assert answer.tokens_after == count(json.dumps(answer.data))
    return answer.tokens_after <= 0.3 * answer.tokens_before


async def test_animals_within_the_budget_pass_unchanged(either: NsipServer) -> None:
    # F4-16 S4-018
    answer = await answered(either, "nsip_get_animal", search_string=RAM)
    assert answer.data == await call(either, "nsip_get_animal", search_string=RAM)
    assert answer.data["total_progeny"] == 204


@pytest.mark.parametrize("lpn_id", [RAM, "6100122018MTS202", "6400462020VPI203"])
async def test_summary_of_an_animal_has_exactly_what_must_be_kept(
    either: NsipServer, lpn_id: str
) -> None:
    # S4-041 S4-042 S4-043 S4-044 S4-045 S4-046 S4-047 S4-049 S4-050 S4-052
    details = await call(either, "nsip_get_animal", search_string=lpn_id)
    summary = SummarizedAnimalResponse.create(details, count(json.dumps(details))).to_dict()
    animal = flock().animals[lpn_id]
    assert list(summary) == [
        *("LpnId", "Sire", "Dam", "Breed", "TotalProgeny", "Contact", "TopTraits"),
        *("_summarized", "_original_token_count", "_summary_token_count"),
    ]
    assert (summary["LpnId"], summary["Breed"]) == (lpn_id, animal.breed.name)
    assert (summary["Sire"], summary["Dam"]) == (animal.sire, animal.dam)
    assert summary["TotalProgeny"] == len(flock().lambs[lpn_id])
    assert details["contact_info"].items() <= summary["Contact"].items()
    assert set(CONTACTS[animal.flock].values()) <= set(summary["Contact"].values())
    known = {name.upper(): value for name, value in animal.accuracies.items() if value}
    assert 1 <= len(summary["TopTraits"]) <= 3
    for trait in summary["TopTraits"]:
        assert 50 <= trait["accuracy"] <= 100
        assert trait["accuracy"] == pytest.approx(known[trait["name"]] * 100, abs=1)


async def test_summary_of_a_pedigree_names_every_ancestor(either: NsipServer) -> None:
    # F4-05
    whole = await call(either, "nsip_get_lineage", lpn_id=EWE)
    answer = await answered(either, "nsip_get_lineage", lpn_id=EWE)
    assert is_small_enough(answer)
    written = json.dumps(answer.data)
    ancestors = {one["lpn_id"] for generation in whole["generations"] for one in generation}
    assert {EWE, *ancestors} == {lpn_id for lpn_id in {EWE, *ancestors} if lpn_id in written}


@pytest.mark.parametrize(
    ("name", "arguments", "total"),
    [
        ("nsip_get_progeny", {"lpn_id": RAM, "page_size": 100}, 204),
        ("nsip_search_animals", {"breed_id": 640, "page_size": 15}, 630),
        ("nsip_search_animals", {"breed_id": 640, "page_size": 100}, 630),
    ],
)
async def test_summary_of_a_page_has_the_total_rows_and_the_way_on(
    either: NsipServer, name: str, arguments: dict[str, Any], total: int
) -> None:
    # F4-07
    whole = await call(either, name, **arguments)
    answer = await answered(either, name, **arguments)
    assert is_small_enough(answer)
    kept_keys = ("total_count", "page", "page_size", "total_pages", "next_page")
    assert {key: answer.data[key] for key in kept_keys} == {key: whole[key] for key in kept_keys}
    assert (answer.data["total_count"], answer.data["next_page"]) == (total, 2)
    rows = answer.data.get("animals") or answer.data["results"]
    originals = whole.get("animals") or whole["results"]
    assert len(rows) >= 5
    assert all(
        row.items() <= original.items() for row, original in zip(rows, originals, strict=False)
    )


@pytest.mark.parametrize("lpn_id", [EWE, RAM, "6100122012MTS201"])
async def test_profile_is_always_a_summary(either: NsipServer, lpn_id: str) -> None:
    # F4-27 C16
    answer = await answered(either, "nsip_search_by_lpn", lpn_id=lpn_id)
    assert answer.data["_summarized"] is True
    assert is_small_enough(answer)
    assert answer.data["LpnId"] == lpn_id
    assert answer.data["TotalProgeny"] == len(flock().lambs[lpn_id])
