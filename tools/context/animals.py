"""The short form of one animal: who it is, where it comes from, whom to ask, what it is best at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tools.context.forms import (
    ORIGINAL_COUNT,
    SUMMARIZED,
    SUMMARY_COUNT,
    Forms,
    NotOfThisKind,
    first_of,
    stamped,
    text_of,
    whole_number,
)
from tools.context.traits import LEAST_ACCURACY, TOP_TRAITS, listed, select_top_traits

METADATA: Final = (
    "breed_group",
    "date_of_birth",
    "gender",
    "status",
    "registration_number",
    "flock_count",
    "genotyped",
)
# Never left out, in whatever form the animal is given.
PRESERVED: Final = (
    *("lpn_id", "sire", "dam", "breed", "total_progeny", "contact_info"),
    *("LpnId", "Sire", "Dam", "Breed", "TotalProgeny", "Contact"),
)
# What NSIP's client calls a field of the contact that NSIP calls otherwise.
CONTACT_NAMES: Final = {"customername": "contactname"}


@dataclass(frozen=True, slots=True)
class SummarizedAnimalResponse:
    """An animal with what must be preserved of it and nothing else.

    `metadata` is there only when it was asked for. `total_progeny` is None when nobody said it.
    """

    lpn_id: str
    breed: str
    sire: str | None = None
    dam: str | None = None
    total_progeny: int | None = None
    contact: Mapping[str, Any] | None = None
    top_traits: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    original_token_count: int = 0
    summary_token_count: int = 0

    def __post_init__(self) -> None:
        if not self.lpn_id.strip() or not self.breed.strip():
            raise ValueError("lpn_id and breed must not be empty")
        if len(self.top_traits) > TOP_TRAITS:
            raise ValueError(f"there are at most {TOP_TRAITS} top traits")
        if any(not trait.get("accuracy", 0) >= LEAST_ACCURACY for trait in self.top_traits):
            raise ValueError(f"a top trait has an accuracy of at least {LEAST_ACCURACY}")

    @classmethod
    def create(cls, details: Mapping[str, Any], original_tokens: int) -> SummarizedAnimalResponse:
        """The short form of an animal as `nsip_get_animal` gives it, both counts filled in.

        Raises:
            NotOfThisKind: it has no identifier or no breed.
        """
        summary = read_animal(details)
        tokens = stamped(summary.fields(), original_tokens)[1]
        return replace(summary, original_token_count=original_tokens, summary_token_count=tokens)

    @staticmethod
    def select_top_traits(traits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The three most accurate traits of those with an accuracy of 50 or more."""
        return select_top_traits(traits)

    def fields(self) -> dict[str, Any]:
        """What is said about the animal, without the note that it is a summary."""
        said = {
            "LpnId": self.lpn_id,
            "Sire": self.sire,
            "Dam": self.dam,
            "Breed": self.breed,
            "TotalProgeny": self.total_progeny,
            "Contact": None if self.contact is None else dict(self.contact),
            "TopTraits": [dict(trait) for trait in self.top_traits],
        }
        return {**said, "Metadata": dict(self.metadata)} if self.metadata else said

    def to_dict(self) -> dict[str, Any]:
        """The summary as callers get it."""
        return {
            **self.fields(),
            SUMMARIZED: True,
            ORIGINAL_COUNT: self.original_token_count,
            SUMMARY_COUNT: self.summary_token_count,
        }


def nsip_animal(data: Any, metadata: bool) -> Forms:
    """Forms of one animal: with none to three of its top traits."""
    animal = read_animal(data, metadata=metadata)

    def build(traits: int) -> dict[str, Any]:
        return replace(animal, top_traits=animal.top_traits[:traits]).fields()

    keep = tuple(f"$.{key}" for key in PRESERVED)
    return Forms(len(animal.top_traits), build, keep, drop=("$.raw_data",))


def read_animal(details: Any, *, metadata: bool = False) -> SummarizedAnimalResponse:
    """What must be preserved of an animal, from details as NSIP's client gives them.

    Raises:
        NotOfThisKind: it has no identifier or no breed.
    """
    raw = _raw(details)
    lpn_id = text_of(first_of(details, "lpn_id", "LpnId", "lpnId"))
    breed = text_of(first_of(details, "breed", "Breed")) or text_of(first_of(raw, "breed"))
    if lpn_id is None or breed is None:
        raise NotOfThisKind("an animal has an identifier and a breed")
    wanted = {key: details[key] for key in METADATA if metadata and details.get(key) is not None}
    return SummarizedAnimalResponse(
        lpn_id=lpn_id,
        breed=breed,
        sire=text_of(first_of(details, "sire", "Sire")),
        dam=text_of(first_of(details, "dam", "Dam")),
        total_progeny=_total_progeny(details, raw),
        contact=_contact(details, raw),
        top_traits=tuple(select_top_traits(listed(first_of(details, "traits", "Traits")))),
        metadata=wanted,
    )


def _raw(details: Any) -> Any:
    """The answer of NSIP itself, which its client leaves in the details."""
    raw = first_of(details, "raw_data")
    inner = first_of(raw, "data")
    return raw if inner is None else inner


def _total_progeny(details: Any, raw: Any) -> int | None:
    for value in (
        first_of(details, "total_progeny", "TotalProgeny"),
        first_of(raw, "progenyCount", "TotalProgeny"),
    ):
        if (number := whole_number(value)) is not None:
            return number
    return None


def _contact(details: Any, raw: Any) -> dict[str, Any] | None:
    """Every field of the contact, null ones too; NSIP has some that its client does not know."""
    known = first_of(details, "contact_info", "Contact", "contact", "ContactInfo", "contactInfo")
    original = first_of(raw, "contactInfo", "ContactInfo")
    if not isinstance(known, Mapping):
        return dict(original) if isinstance(original, Mapping) else None
    contact = dict(known)
    if isinstance(original, Mapping):
        said = {(_plain(key), repr(value)) for key, value in known.items()}
        contact |= {
            key: value
            for key, value in original.items()
            if key not in contact and (_plain(key), repr(value)) not in said
        }
    return contact


def _plain(name: str) -> str:
    plain = name.lower().replace("_", "")
    return CONTACT_NAMES.get(plain, plain)
