"""Details of an animal as NSIP answers them, today or in its older shape, brought into one.

The keys and values are those of nsip-client's `AnimalDetails.to_dict()`, so that programs written
for it read our answers too. `raw_data` is the API's own answer, untouched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

TRAITS: Final = (
    *("BWT", "WWT", "PWWT", "YWT", "FAT", "EMD", "NLB", "NWT", "PWT", "DAG", "WGR", "WEC", "FEC"),
)
# Our names, and the API's of today and of before.
CONTACT: Final[Mapping[str, tuple[str, str]]] = {
    "farm_name": ("farmName", "FarmName"),
    "contact_name": ("customerName", "ContactName"),
    "phone": ("phone", "Phone"),
    "email": ("email", "Email"),
    "address": ("address", "Address"),
    "city": ("city", "City"),
    "state": ("state", "State"),
    "zip_code": ("zipCode", "ZipCode"),
}
OLDER: Final[Mapping[str, str]] = {
    "date_of_birth": "DateOfBirth",
    "gender": "Gender",
    "status": "Status",
    "sire": "Sire",
    "dam": "Dam",
    "registration_number": "RegistrationNumber",
    "total_progeny": "TotalProgeny",
    "flock_count": "FlockCount",
    "genotyped": "Genotyped",
}


def animal_details(data: Mapping[str, Any]) -> dict[str, Any]:
    """The animal that an answer of either shape is about; `lpn_id` is empty when there is none.

    Raises KeyError for an answer of neither.
    """
    known = _today(data["data"] or {}) if "data" in data else _before(data)
    return {
        "lpn_id": known.pop("lpn_id"),
        "breed": known.pop("breed"),
        "breed_group": data.get("BreedGroup"),
        **known,
        "raw_data": data,
    }


def _today(section: Mapping[str, Any]) -> dict[str, Any]:
    row = section.get("searchResultViewModel") or {}
    contact = section.get("contactInfo", section.get("ContactInfo"))
    flocks = str(section.get("flockCount") or "")
    return {
        "lpn_id": row.get("lpnId") or "",
        "breed": (section.get("breed") or {}).get("breedName"),
        "date_of_birth": section.get("dateOfBirth"),
        "gender": section.get("gender"),
        "status": row.get("status"),
        "sire": row.get("lpnSre"),
        "dam": row.get("lpnDam"),
        "registration_number": row.get("regNumber"),
        "total_progeny": section.get("progenyCount"),
        "flock_count": int(flocks) if flocks.isdecimal() else None,
        "genotyped": section.get("genotyped"),
        "traits": _traits_of_row(row),
        "contact_info": _contact(contact) if contact else None,
    }


def _before(data: Mapping[str, Any]) -> dict[str, Any]:
    contact = data.get("ContactInfo")
    return {
        "lpn_id": data["LpnId"] or "",
        "breed": data.get("Breed"),
        **{name: data.get(theirs) for name, theirs in OLDER.items()},
        "traits": {
            name: _trait(name, one.get("Value", 0), one.get("Accuracy"))
            for name, one in (data.get("Traits") or {}).items()
            if isinstance(one, Mapping)
        },
        "contact_info": None if contact is None else _contact(contact),
    }


def _traits_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    traits = {}
    for name in TRAITS:
        value = row.get(name.lower())
        if value is not None:
            accuracy = _percent(row.get(f"acc{name.lower()}"))
            traits[name] = _trait(name, float(value), accuracy or None)
    return traits


def _trait(name: str, value: Any, accuracy: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "accuracy": accuracy, "units": None}


def _percent(accuracy: float | None) -> float | None:
    """Out of 100. The API gives fractions; nsip-client cuts what is behind the point, and so do we."""
    if accuracy is None or accuracy > 1:
        return accuracy
    return int(accuracy * 100)


def _contact(given: Mapping[str, Any]) -> dict[str, Any]:
    """Every field is there: what the API does not tell is None."""
    return {name: given.get(today, given.get(older)) for name, (today, older) in CONTACT.items()}
