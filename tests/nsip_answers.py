"""What the NSIP stand-in answers to each request, and what it refuses as the API does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from tests.nsip_flock import STATUSES, TRAITS, Animal
from tests.nsip_shapes import Today

LAST_UPDATED: Final = {"date": "09/23/2025"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came: endpoint, the last value of each query parameter, JSON body."""

    method: str
    endpoint: str
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


class Refused(Exception):
    """A request that the API does not take."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def answer(shape: Today, asked: Asked) -> Any:
    """The body of the answer.

    Raises:
        Refused: with the status the API gives for it.
    """
    served = ENDPOINTS.get(asked.endpoint)
    if served is None:
        raise Refused(404, "No such endpoint")
    method, work = served
    if asked.method != method:
        raise Refused(405, "The requested resource does not support this method")
    return work(shape, asked)


def _trait_ranges(shape: Today, asked: Asked) -> Any:
    number = _integer(asked.query, "breedId")
    kept = [one for one in shape.flock.animals.values() if one.breed.number == number]
    ranges = {}
    for name in TRAITS:
        values = [value for one in kept if (value := one.traits[name]) is not None]
        if values:
            ranges[name.upper()] = {"min": min(values), "max": max(values)}
    return ranges


def _details(shape: Today, asked: Asked) -> Any:
    return shape.details(_animal(shape, asked.query.get("searchString", "")))


def _lineage(shape: Today, asked: Asked) -> Any:
    return shape.lineage(_animal(shape, asked.query.get("lpnId", "")))


def _progeny(shape: Today, asked: Asked) -> Any:
    animal = _animal(shape, asked.query.get("lpnId", ""))
    lambs = sorted(shape.flock.lambs[animal.lpn_id], key=lambda one: (one.born, one.lpn_id))
    page, size, cut = _page(lambs, asked)
    return shape.lambs(cut, len(lambs), page, size)


def _search(shape: Today, asked: Asked) -> Any:
    if not asked.headers.get("content-type", "").startswith("application/json"):
        raise Refused(415, "Unsupported Media Type")
    if not isinstance(asked.body, dict):
        raise Refused(400, "The body is no JSON object")
    found = [one for one in shape.flock.animals.values() if _fits(one, asked)]
    trait = asked.query.get("sortedBreedTrait", "").lower()
    if trait:
        found.sort(key=lambda one: one.traits.get(trait) or 0.0)
    if asked.query.get("reverse", "").lower() == "true":
        found.reverse()
    page, size, cut = _page(found, asked)
    return shape.results(cut, len(found), page, size)


def _fits(animal: Animal, asked: Asked) -> bool:
    wanted = dict(asked.body)
    if "breedId" in asked.query:
        wanted["breedId"] = _integer(asked.query, "breedId")
    facts = {
        "breedId": animal.breed.number,
        "breedGroupId": animal.breed.group,
        "status": animal.status,
        "flockId": animal.flock,
    }
    if any(wanted.get(name, fact) != fact for name, fact in facts.items()):
        return False
    if wanted.get("gender", "Both") not in ("Both", "Male" if animal.male else "Female"):
        return False
    if wanted.get("provenOnly") and animal.us_index < 100:
        return False
    return _born_within(animal.born, wanted) and _traits_within(animal, wanted)


def _born_within(born: date, wanted: Mapping[str, Any]) -> bool:
    after = date.fromisoformat(wanted.get("bornAfter", "0001-01-01"))
    return after <= born <= date.fromisoformat(wanted.get("bornBefore", "9999-12-31"))


def _traits_within(animal: Animal, wanted: Mapping[str, Any]) -> bool:
    for name, limits in wanted.get("traitRanges", {}).items():
        value = animal.traits.get(name.lower())
        if value is None or not limits.get("min", value) <= value <= limits.get("max", value):
            return False
    return True


def _animal(shape: Today, searched: str) -> Animal:
    found = shape.flock.find(searched)
    if found is None:
        raise Refused(404, "No animal of that number")
    return found


def _page(found: Sequence[Animal], asked: Asked) -> tuple[int, int, Sequence[Animal]]:
    page, size = _integer(asked.query, "page"), _integer(asked.query, "pageSize")
    if page < 0 or not 1 <= size <= 100:
        raise Refused(400, "page or pageSize is out of range")
    return page, size, found[page * size : (page + 1) * size]


def _integer(query: Mapping[str, str], name: str) -> int:
    try:
        return int(query[name])
    except (KeyError, ValueError):
        raise Refused(400, f"{name} is no number") from None


ENDPOINTS: Final[Mapping[str, tuple[str, Callable[[Today, Asked], Any]]]] = {
    "search/getDateLastUpdated": ("GET", lambda shape, asked: LAST_UPDATED),
    "search/getAvailableBreedGroups": ("GET", lambda shape, asked: shape.breeds()),
    "search/getStatusesByBreedGroup": ("GET", lambda shape, asked: list(STATUSES)),
    "search/getTraitRangesByBreed": ("GET", _trait_ranges),
    "search/getPageOfSearchResults": ("POST", _search),
    "details/getAnimalDetails": ("GET", _details),
    "details/getLineage": ("GET", _lineage),
    "details/getPageOfProgeny": ("GET", _progeny),
}
