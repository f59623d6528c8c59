"""Arguments of the NSIP tools as its API wants them. What is wrong is said before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.errors import ErrorDetails, InvalidArguments
from tools.schemas import shown

SHORTEST_LPN_ID: Final = 5
EXAMPLE_LPN_ID: Final = "6401492020FLE249"
DEFAULT_PAGE_SIZE: Final = 20
LARGEST_PAGE: Final = 100

# What a search may be narrowed by: our names, and the API's.
CRITERIA: Final[Mapping[str, str]] = {
    "breed_group_id": "breedGroupId",
    "breed_id": "breedId",
    "born_after": "bornAfter",
    "born_before": "bornBefore",
    "gender": "gender",
    "proven_only": "provenOnly",
    "status": "status",
    "flock_id": "flockId",
    "trait_ranges": "traitRanges",
}


@dataclass(frozen=True, slots=True)
class Page:
    """The page asked for, counted from 1; the API counts from 0."""

    number: int
    size: int

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Page:
        """Raises InvalidArguments when there can be no such page."""
        size = whole_number(arguments, "page_size", DEFAULT_PAGE_SIZE)
        if size > LARGEST_PAGE:
            raise _refusal(
                "page_size", size, f"1 to {LARGEST_PAGE}", "Ask for several pages instead"
            )
        return cls(whole_number(arguments, "page", 1), size)

    def to_wire(self) -> dict[str, int]:
        return {"page": self.number - 1, "page_size": self.size}

    def report(self, total: int) -> dict[str, int | None]:
        """Where the page stands among all, and which one comes next, if any."""
        pages = -(-total // self.size)
        return {
            "page": self.number,
            "page_size": self.size,
            "total_pages": pages,
            "next_page": self.number + 1 if self.number < pages else None,
        }


def lpn_id(arguments: Mapping[str, Any]) -> str:
    """Raises InvalidArguments for what is too short to be one."""
    given = arguments.get("lpn_id")
    if isinstance(given, str) and len(given.strip()) >= SHORTEST_LPN_ID:
        return given.strip()
    raise _refusal(
        "lpn_id",
        given,
        f"an LPN id of at least {SHORTEST_LPN_ID} characters",
        f"Send the whole LPN id, such as {EXAMPLE_LPN_ID}",
    )


def search_string(arguments: Mapping[str, Any]) -> str:
    """Raises InvalidArguments when there is nothing to look for."""
    given = arguments.get("search_string")
    if isinstance(given, str) and given.strip():
        return given.strip()
    raise _refusal(
        "search_string",
        given,
        "an LPN id or a registration number",
        f"Send the number of an animal, such as {EXAMPLE_LPN_ID}",
    )


def whole_number(arguments: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """One that may come as text or as a number, and is above zero.

    Raises:
        InvalidArguments: it is neither.
    """
    given = arguments.get(name, default)
    try:
        number = int(given) if not isinstance(given, bool) and int(given) == float(given) else 0
    except (OverflowError, TypeError, ValueError):
        number = 0
    if number < 1:
        raise _refusal(
            name,
            given,
            "a whole number above 0",
            f"Send {name} as a number, such as {default or 640}",
        )
    return number


def criteria(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the body of a search says: our names become the API's, empty values are left out.

    Raises InvalidArguments for what cannot be right.
    """
    given = arguments.get("search_criteria") or {}
    if not isinstance(given, Mapping):
        raise _refusal("search_criteria", given, "an object", "Send the filters by name")
    wanted: dict[str, Any] = {}
    for name, value in given.items():
        if name in {"breed_id", "breed_group_id"}:
            wanted[CRITERIA[name]] = whole_number(given, name)
        elif value not in (None, "", {}):
            wanted[CRITERIA.get(name, name)] = value
    return wanted


def _refusal(name: str, value: Any, expected: str, suggestion: str) -> InvalidArguments:
    return InvalidArguments(
        f"Invalid parameter: {name}",
        ErrorDetails(parameter=name, value=shown(value), expected=expected, suggestion=suggestion),
    )
