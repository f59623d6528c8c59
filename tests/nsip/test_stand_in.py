"""The stand-in is the API: its public client reads every endpoint of it, in both shapes."""

from __future__ import annotations

from http.client import HTTPConnection
from typing import Any

import pytest
from nsip_client import NSIPNotFoundError  # type: ignore[import-untyped]
from nsip_client.models import SearchCriteria  # type: ignore[import-untyped]

from tests.nsip_flock import EWE, RAM, flock
from tests.nsip_server import NsipServer


def test_public_client_reads_what_is_there_to_choose_from(client: Any) -> None:
    # S4-009 S4-010 S4-011 S4-012
    assert client.get_date_last_updated() == {"date": "09/23/2025"}
    groups = {group.name: group for group in client.get_available_breed_groups()}
    assert groups["Hair"].id == 64
    assert groups["Hair"].breeds == [{"id": 640, "name": "Katahdin"}]
    assert {"CURRENT", "SOLD", "DEAD"} <= set(client.get_statuses_by_breed_group())
    ranges = client.get_trait_ranges_by_breed(640)
    assert ranges["BWT"]["min"] < 0 < ranges["BWT"]["max"]


def test_public_client_reads_every_animal(client: Any) -> None:
    # S4-014
    for lpn_id, animal in flock().animals.items():
        read = client.get_animal_details(lpn_id)
        assert (read.lpn_id, read.breed) == (lpn_id, animal.breed.name)
        assert (read.sire, read.dam) == (animal.sire, animal.dam)
        assert read.total_progeny == len(flock().lambs[lpn_id])


def test_public_client_reads_four_generations_and_a_large_family(client: Any) -> None:
    # S4-015 S4-016 S4-017
    pedigree = client.get_lineage(EWE)
    assert [len(generation) for generation in pedigree.generations] == [2, 4, 8, 16]
    assert pedigree.subject.lpn_id == EWE
    assert pedigree.sire.lpn_id == flock().animals[EWE].sire
    lambs = [
        lamb.lpn_id
        for page in range(3)
        for lamb in client.get_progeny(RAM, page=page, page_size=100).animals
    ]
    assert client.get_progeny(RAM).total_count == len(lambs) == len(set(lambs)) == 204
    assert client.search_by_lpn(EWE)["progeny"].total_count == 6


def test_public_client_searches_with_every_criterion(client: Any) -> None:
    # S4-013
    wanted = SearchCriteria(
        breed_group_id=64,
        born_after="2018-01-01",
        born_before="2020-12-31",
        gender="Female",
        proven_only=True,
        status="CURRENT",
        flock_id="640149",
        trait_ranges={"BWT": {"min": -0.5, "max": 0.5}},
    )
    everything = client.search_animals(page_size=100).total_count
    breed = client.search_animals(breed_id=640).total_count
    some = client.search_animals(breed_id=640, search_criteria=wanted).total_count
    assert everything == 900
    assert everything > breed > some > 0


def test_unknown_animals_are_not_found(either: NsipServer, client: Any) -> None:
    with pytest.raises(NSIPNotFoundError):
        client.get_animal_details("6401492020FLE999")
    assert either.calls == {"details/getAnimalDetails": 1}


def test_dead_stand_in_ends_connections_that_clients_kept(api: NsipServer) -> None:
    kept = HTTPConnection("127.0.0.1", api.port, timeout=10)
    _ask(kept)
    api.die()
    with pytest.raises(ConnectionError):
        _ask(kept)
    kept.close()
    api.revive()
    again = HTTPConnection("127.0.0.1", api.port, timeout=10)
    assert _ask(again) == b'{"date": "09/23/2025"}'
    again.close()


def _ask(connection: HTTPConnection) -> bytes:
    connection.request("GET", "/api/search/getDateLastUpdated")
    return connection.getresponse().read()
