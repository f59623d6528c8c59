"""Our nine tools answer the data that nsip-client reads from the same endpoint, in both shapes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from tests.nsip.calls import call
from tests.nsip_flock import EWE, RAM, flock
from tests.nsip_server import Fault, NsipServer

FOUNDER = "6100122012MTS201"
PAGING = ("page", "page_size", "total_pages", "next_page")


def without_page(answer: Any) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in PAGING}


def page_of(answer: Any) -> list[Any]:
    return [answer[name] for name in PAGING]


async def test_lists_to_choose_from_are_those_of_the_client(
    either: NsipServer, client: Any
) -> None:
    # S4-009 S4-010 S4-011 S4-018
    assert await call(either, "nsip_get_last_update") == client.get_date_last_updated()
    groups = [asdict(group) for group in client.get_available_breed_groups()]
    assert await call(either, "nsip_list_breeds") == groups
    assert len(groups) == 3
    assert await call(either, "nsip_get_statuses") == client.get_statuses_by_breed_group()


@pytest.mark.parametrize("breed_id", [640, "640"])
async def test_breed_ids_may_be_text_and_travel_as_numbers(
    either: NsipServer, client: Any, breed_id: Any
) -> None:
    # S4-012 F4-28
    ranges = await call(either, "nsip_get_trait_ranges", breed_id=breed_id)
    assert ranges == client.get_trait_ranges_by_breed(640)
    found = await call(
        either, "nsip_search_animals", breed_id=breed_id, search_criteria={"breed_id": breed_id}
    )
    assert found["total_count"] == 630
    assert either.asked[-1].query["breedId"] == "640"
    assert either.asked[-1].body == {"breedId": 640}


async def test_breed_group_of_statuses_is_taken_and_ignored(api: NsipServer) -> None:
    # S4-011 F4-28
    with_group = await call(api, "nsip_get_statuses", breed_group_id="64")
    assert with_group == await call(api, "nsip_get_statuses")
    assert [asked.query for asked in api.asked] == [{}, {}]


@pytest.mark.parametrize("animal", [EWE, RAM, FOUNDER, "6900312022IAS205"])
async def test_details_and_pedigree_are_those_of_the_client(
    either: NsipServer, client: Any, animal: str
) -> None:
    # S4-014 S4-015 S4-018 T08
    details = await call(either, "nsip_get_animal", search_string=animal)
    assert details == client.get_animal_details(animal).to_dict()
    assert list(details) == list(client.get_animal_details(animal).to_dict())
    known = [one["accuracy"] for one in details["traits"].values() if one["accuracy"] is not None]
    assert len(known) > 5
    assert all(1 <= accuracy <= 100 for accuracy in known)
    pedigree = await call(either, "nsip_get_lineage", lpn_id=animal)
    assert pedigree == client.get_lineage(animal).to_dict()


async def test_animals_are_found_by_registration_number(api: NsipServer) -> None:
    # S4-014
    registered = next(one for one in flock().animals.values() if one.registration)
    details = await call(api, "nsip_get_animal", search_string=f" {registered.registration} ")
    assert details["lpn_id"] == registered.lpn_id


async def test_every_page_of_offspring_is_the_clients_counted_from_one(
    either: NsipServer, client: Any
) -> None:
    # S4-016 F4-07 F4-26 T16
    for page, next_page in ((1, 2), (2, 3), (3, None)):
        ours = await call(either, "nsip_get_progeny", lpn_id=RAM, page=page, page_size=100)
        theirs = asdict(client.get_progeny(RAM, page=page - 1, page_size=100))
        assert without_page(ours) == {name: theirs[name] for name in ("total_count", "animals")}
        assert page_of(ours) == [page, 100, 3, next_page]


async def test_following_next_page_visits_every_search_result_once(api: NsipServer) -> None:
    # S4-013 F4-07 F4-26
    seen: list[str] = []
    page: int | None = 1
    while page is not None:
        found = await call(api, "nsip_search_animals", breed_id=610, page=page, page_size=32)
        seen += [one["lpnId"] for one in found["results"]]
        page = found["next_page"]
    assert found["total_count"] == len(seen) == len(set(seen)) == 160
    assert page_of(found) == [5, 32, 5, None]


async def test_search_results_are_those_of_the_client(either: NsipServer, client: Any) -> None:
    # S4-013 S4-018
    criteria = {"gender": "Female", "born_after": "2018-01-01", "status": "CURRENT"}
    ours = await call(
        either,
        "nsip_search_animals",
        breed_id=640,
        sorted_trait="BWT",
        reverse=True,
        search_criteria=criteria,
    )
    theirs = client.search_animals(
        page_size=20,
        breed_id=640,
        sorted_trait="BWT",
        reverse=True,
        search_criteria={"gender": "Female", "bornAfter": "2018-01-01", "status": "CURRENT"},
    )
    assert without_page(ours) == {"total_count": theirs.total_count, "results": theirs.results}
    assert len(ours["results"]) == 20
    assert page_of(ours)[:2] == [1, 20]
    ours_asked, theirs_asked = either.asked
    assert ours_asked.body == theirs_asked.body
    assert ours_asked.query == {**theirs_asked.query, "reverse": "true"}


async def test_profile_has_details_pedigree_and_offspring_of_the_client(
    either: NsipServer, client: Any
) -> None:
    # S4-017 S4-018
    ours = await call(either, "nsip_search_by_lpn", lpn_id=RAM)
    assert either.calls.total() == 3
    theirs = {name: asdict(part) for name, part in client.search_by_lpn(RAM).items()}
    assert (ours["details"], ours["lineage"]) == (theirs["details"], theirs["lineage"])
    assert ours["progeny"]["animals"] == theirs["progeny"]["animals"]
    assert (ours["progeny"]["total_count"], *page_of(ours["progeny"])) == (204, 1, 10, 21, 2)


async def test_animals_without_offspring_or_parents_are_answered_as_such(api: NsipServer) -> None:
    # S4-015 S4-016
    childless = next(one.lpn_id for one in flock().animals.values() if one.born.year == 2022)
    offspring = await call(api, "nsip_get_progeny", lpn_id=childless)
    assert offspring["animals"] == []
    assert (offspring["total_count"], *page_of(offspring)) == (0, 1, 20, 0, None)
    pedigree = await call(api, "nsip_get_lineage", lpn_id=FOUNDER)
    assert pedigree["subject"]["lpn_id"] == FOUNDER
    assert (pedigree["sire"], pedigree["dam"], pedigree["generations"]) == (None, None, [])


async def test_answers_are_json(api: NsipServer) -> None:
    # S4-018
    answer = await call(api, "nsip_search_by_lpn", lpn_id=EWE)
    assert json.loads(json.dumps(answer)) == answer


async def test_one_odd_figure_does_not_spoil_a_pedigree(api: NsipServer) -> None:
    # S4-015
    content = "<div>A farm</div><div>US Index: 1.2.3</div><div>Sex: Female</div>"
    node = {"lpnId": EWE, "content": content, "children": [None, {"lpnId": RAM}]}
    api.fail(Fault(body=json.dumps({"success": True, "data": node}).encode()))
    pedigree = await call(api, "nsip_get_lineage", lpn_id=EWE)
    subject = pedigree["subject"]
    assert (subject["farm_name"], subject["us_index"], subject["sex"]) == ("A farm", None, "Female")
    assert pedigree["sire"] is None
    assert pedigree["dam"]["lpn_id"] == RAM
