"""A flock for the NSIP stand-in: the same 900 animals in every run, with pedigrees of five generations.

`EWE` is the animal of the documentation's examples, with six lambs; `RAM` has 204.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from typing import Final

EWE: Final = "6401492020FLE249"
RAM: Final = "6401492018FLE202"
LAMBS_OF_EWE: Final = 6
# Which lambs of a breed and year are the ram's: 120 and 84 of them.
LAMBS_OF_RAM: Final = {640: {2020: range(120), 2022: range(76, 160)}}
STATUSES: Final = ("CURRENT", "SOLD", "DEAD", "COMMERCIAL", "CULL", "PURCHASED BY NON-MEMBER")
# The spread of each trait. The last four are traits of the API that nsip-client does not read.
TRAITS: Final[Mapping[str, float]] = {
    "bwt": 0.3,
    "wwt": 1.9,
    "pwwt": 2.8,
    "ywt": 3.6,
    "fat": 0.4,
    "emd": 0.8,
    "nlb": 0.11,
    "nwt": 0.12,
    "pwt": 1.7,
    "dag": 0.2,
    "wgr": 0.9,
    "wec": 24.0,
    "fec": 28.0,
    "mwwt": 0.9,
    "nlw": 0.1,
    "scr": 0.6,
    "gfw": 0.2,
}


@dataclass(frozen=True, slots=True)
class Breed:
    """A breed, its group, and the letters and code of each flock that keeps it."""

    number: int
    name: str
    group: int
    group_name: str
    flocks: tuple[tuple[str, str], ...]
    # Born in each of the years, one generation after the other.
    cohorts: tuple[int, ...]


YEARS: Final = (2012, 2014, 2016, 2018, 2020, 2022)
BREEDS: Final = (
    Breed(
        *(640, "Katahdin", 64, "Hair"),
        (("FLE", "640149"), ("NCS", "640238"), ("VPI", "640046")),
        (60, 80, 90, 90, 150, 160),
    ),
    Breed(610, "Targhee", 61, "Range", (("MTS", "610012"),), (20, 25, 25, 30, 30, 30)),
    Breed(690, "Suffolk", 69, "Terminal", (("IAS", "690031"),), (15, 15, 20, 20, 20, 20)),
)
# In the list of breeds, but nobody keeps them here.
OTHER_BREEDS: Final = ((486, "South African Meat Merino", 61, "Range"),)

# As the API gives them: what a farm does not tell is null or missing.
CONTACTS: Final[Mapping[str, Mapping[str, str | None]]] = {
    "640149": {
        "farmName": "Fleur Ridge Katahdins",
        "customerName": "Anna Fleur",
        "phone": "540-555-0149",
        "email": "anna@fleurridge.example",
        "address": "149 Ridge Road",
        "city": "Blacksburg",
        "state": "VA",
        "zipCode": "24060",
    },
    "640238": {
        "farmName": "North Creek Sheep",
        "customerName": "Neil Cooper",
        "phone": "919-555-0238",
        "email": None,
        "address": None,
        "city": "Raleigh",
        "state": "NC",
        "zipCode": "27601",
    },
    "640046": {
        "farmName": "Valley Pasture Institute",
        "customerName": "Vera Parks",
        "phone": None,
        "email": "sheep@valleypasture.example",
        "city": "Steeles Tavern",
        "state": "VA",
    },
    "610012": {
        "farmName": "Mountain Station & Sons",
        "customerName": "Martín Saenz",
        "phone": "406-555-0012",
        "email": "",
        "city": "Bozeman",
        "state": "MT",
    },
    "690031": {"farmName": "Iowa Suffolks", "customerName": None, "city": "Ames", "state": "IA"},
}


@dataclass(frozen=True, slots=True)
class Animal:
    """One animal. `accuracies` are fractions; a trait or accuracy that is not known is None."""

    lpn_id: str
    breed: Breed
    flock: str
    born: date
    male: bool
    status: str
    registration: str
    genotyped: str
    us_index: float
    src_index: float
    traits: Mapping[str, float | None]
    accuracies: Mapping[str, float | None]
    sire: str | None = None
    dam: str | None = None


@dataclass(slots=True)
class Flock:
    """All animals by LPN id, and the lambs of each parent in order of birth."""

    animals: dict[str, Animal] = field(default_factory=dict)
    lambs: dict[str, list[Animal]] = field(default_factory=lambda: defaultdict(list))

    def add(self, animal: Animal) -> None:
        self.animals[animal.lpn_id] = animal
        for parent in (animal.sire, animal.dam):
            if parent is not None:
                self.lambs[parent].append(animal)

    def find(self, searched: str) -> Animal | None:
        """By LPN id or registration number."""
        known = self.animals.get(searched)
        registered = (one for one in self.animals.values() if one.registration == searched)
        return known or (next(registered, None) if searched else None)


@cache
def flock() -> Flock:
    """The flock; made once."""
    made = Flock()
    dice = random.Random(20250923)  # noqa: S311
    for breed in BREEDS:
        parents: tuple[list[str], list[str]] = ([], [])
        for year, size in zip(YEARS, breed.cohorts, strict=True):
            born = [_lamb(dice, breed, year, number, parents) for number in range(size)]
            for animal in born:
                made.add(animal)
            parents = (
                [animal.lpn_id for animal in born if animal.male],
                [animal.lpn_id for animal in born if not animal.male],
            )
    return made


def _lamb(
    dice: random.Random, breed: Breed, year: int, number: int, parents: tuple[list[str], list[str]]
) -> Animal:
    letters, code = breed.flocks[number % len(breed.flocks)]
    tag = 201 + number // len(breed.flocks)
    sire, dam = _parents(dice, breed, year, number, parents)
    return Animal(
        lpn_id=f"{code}{year}{letters}{tag}",
        breed=breed,
        flock=code,
        born=date(year, 1, 20) + timedelta(days=dice.randrange(90)),
        male=tag % 2 == 0,
        status=dice.choices(STATUSES, (60, 15, 8, 9, 5, 3))[0],
        registration=f"{letters}{year % 100}{tag:05d}" if dice.random() < 0.7 else "",
        genotyped=dice.choice(("No", "50K Genotyped", "LD Genotyped")),
        us_index=round(dice.gauss(102, 4), 2),
        src_index=round(dice.gauss(115, 6), 2),
        traits={name: _value(dice, spread) for name, spread in TRAITS.items()},
        accuracies={name: _accuracy(dice) for name in TRAITS},
        sire=sire,
        dam=dam,
    )


def _parents(
    dice: random.Random, breed: Breed, year: int, number: int, parents: tuple[list[str], list[str]]
) -> tuple[str | None, str | None]:
    rams, ewes = parents
    if not rams:
        return None, None
    sire = dice.choice([ram for ram in rams if ram != RAM])
    dam = dice.choice([ewe for ewe in ewes if ewe != EWE])
    if EWE in ewes and number < LAMBS_OF_EWE:
        dam = EWE
    if number in LAMBS_OF_RAM.get(breed.number, {}).get(year, ()):
        sire = RAM
    return sire, dam


def _value(dice: random.Random, spread: float) -> float | None:
    value = round(dice.gauss(0, spread), 3)
    return None if dice.random() < 0.04 else value


def _accuracy(dice: random.Random) -> float | None:
    accuracy = round(0.3 + 0.68 * dice.random(), 2)
    return None if dice.random() < 0.05 else accuracy
