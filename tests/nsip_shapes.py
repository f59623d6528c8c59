"""Animals of the stand-in as the NSIP API writes them, in its shape of today and its older one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from typing_extensions import override

from tests.nsip_flock import BREEDS, CONTACTS, OTHER_BREEDS, TRAITS, Animal, Flock

GENERATIONS: Final = 4


def american(day: date) -> str:
    """A date as the API writes it for people."""
    return f"{day.month}/{day.day}/{day.year}"


class Today:
    """The shape that the API has now: wrapped, camel case."""

    def __init__(self, flock: Flock) -> None:
        self.flock = flock

    def breeds(self) -> Any:
        return {
            "success": True,
            "data": [
                {
                    "breedGroupId": number,
                    "breedGroupName": name,
                    "breeds": [{"breedId": one, "breedName": called} for one, called in breeds],
                }
                for number, name, breeds in breed_groups()
            ],
        }

    def row(self, animal: Animal) -> dict[str, Any]:
        """What the API calls a search result."""
        known = {
            "lpnId": animal.lpn_id,
            "lpnSre": animal.sire,
            "lpnDam": animal.dam,
            "regNumber": animal.registration,
            "status": animal.status,
            "dob": f"{animal.born}T00:00:00",
            "gender": "1" if animal.male else "2",
            "flockCode": animal.flock,
            "breedId": animal.breed.number,
            "usIndex": animal.us_index,
            "srcIndex": animal.src_index,
        }
        for name in TRAITS:
            known[name], known[f"acc{name}"] = animal.traits[name], animal.accuracies[name]
        return known

    def details(self, animal: Animal) -> Any:
        return {
            "success": True,
            "data": {
                "progenyCount": len(self.flock.lambs[animal.lpn_id]),
                "dateOfBirth": american(animal.born),
                "gender": "Male" if animal.male else "Female",
                "genotyped": animal.genotyped,
                "flockCount": "1",
                "breed": {
                    "breedName": animal.breed.name,
                    "breedDisplayString": f"{animal.breed.number} - {animal.breed.name}",
                    "breedId": animal.breed.number,
                },
                "searchResultViewModel": self.row(animal),
                "contactInfo": {"flockCode": animal.flock, **CONTACTS[animal.flock]},
            },
        }

    def lineage(self, animal: Animal) -> Any:
        return {"success": True, "data": self.node(animal, GENERATIONS)}

    def node(self, animal: Animal, generations: int) -> dict[str, Any]:
        parents = [self.flock.animals[one] for one in (animal.sire, animal.dam) if one is not None]
        kind = "US Hair Index" if animal.breed.group == 64 else "US Index"
        lines = (
            str(CONTACTS[animal.flock]["farmName"]),
            f"{kind}: {animal.us_index}",
            f"SRC$ Index: {animal.src_index}",
            f"DOB: {american(animal.born)}",
            f"Sex: {'Male' if animal.male else 'Female'}",
            f"Status: {animal.status}",
        )
        return {
            "lpnId": animal.lpn_id,
            "content": "".join(f"<div>{line}</div>" for line in lines),
            "children": [self.node(one, generations - 1) for one in parents] if generations else [],
        }

    def lambs(self, found: Sequence[Animal], total: int, page: int, size: int) -> Any:
        rows = [
            {
                "lpnId": animal.lpn_id,
                "sex": "M" if animal.male else "F",
                "dob": f"{animal.born}T00:00:00",
                "Traits": known_traits(animal),
            }
            for animal in found
        ]
        pages = -(-total // size)
        return {"success": True, "records": rows, "recordCount": total, "numberOfPages": pages}

    def results(self, found: Sequence[Animal], total: int, page: int, size: int) -> Any:
        return {"recordCount": total, "records": [self.row(animal) for animal in found]}


class Older(Today):
    """The shape that it had before: bare, Pascal case."""

    @override
    def breeds(self) -> Any:
        return [
            {
                "Id": number,
                "Name": name,
                "breeds": [{"id": one, "name": called} for one, called in breeds],
            }
            for number, name, breeds in breed_groups()
        ]

    @override
    def row(self, animal: Animal) -> dict[str, Any]:
        return {
            "LpnId": animal.lpn_id,
            "Sire": animal.sire,
            "Dam": animal.dam,
            "RegistrationNumber": animal.registration,
            "Status": animal.status,
            "DateOfBirth": american(animal.born),
            "Gender": "Male" if animal.male else "Female",
            "Breed": animal.breed.name,
            "Traits": {
                name: {"Value": value, "Accuracy": _percent(animal.accuracies[name.lower()])}
                for name, value in known_traits(animal).items()
            },
        }

    @override
    def details(self, animal: Animal) -> Any:
        contact = CONTACTS[animal.flock]
        names = {"customerName": "ContactName"}
        return {
            **self.row(animal),
            "BreedGroup": animal.breed.group_name,
            "TotalProgeny": len(self.flock.lambs[animal.lpn_id]),
            "FlockCount": 1,
            "Genotyped": animal.genotyped,
            "ContactInfo": {
                names.get(key, key[0].upper() + key[1:]): value for key, value in contact.items()
            },
        }

    @override
    def lineage(self, animal: Animal) -> Any:
        return self.node(animal, GENERATIONS)

    @override
    def lambs(self, found: Sequence[Animal], total: int, page: int, size: int) -> Any:
        rows = [
            {
                "LpnId": animal.lpn_id,
                "Sex": "Male" if animal.male else "Female",
                "DateOfBirth": american(animal.born),
                "Traits": known_traits(animal),
            }
            for animal in found
        ]
        return {"TotalCount": total, "Results": rows, "Page": page, "PageSize": size}

    @override
    def results(self, found: Sequence[Animal], total: int, page: int, size: int) -> Any:
        rows = [self.row(animal) for animal in found]
        return {"TotalCount": total, "Results": rows, "Page": page, "PageSize": size}


def breed_groups() -> list[tuple[int, str, list[tuple[int, str]]]]:
    """Number, name and breeds of each group, in order."""
    groups: dict[tuple[int, str], list[tuple[int, str]]] = {}
    kept = [(one.number, one.name, one.group, one.group_name) for one in BREEDS]
    for number, name, group, group_name in sorted((*kept, *OTHER_BREEDS)):
        groups.setdefault((group, group_name), []).append((number, name))
    return [(number, name, breeds) for (number, name), breeds in sorted(groups.items())]


def known_traits(animal: Animal) -> Mapping[str, float]:
    """The traits that have a value, named as people do."""
    return {name.upper(): value for name, value in animal.traits.items() if value is not None}


def _percent(accuracy: float | None) -> int | None:
    return None if accuracy is None else round(accuracy * 100)
