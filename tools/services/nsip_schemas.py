"""Schemas of the arguments that the NSIP tools take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tools.backends.http_api.adapters.nsip_arguments import (
    DEFAULT_PAGE_SIZE,
    EXAMPLE_LPN_ID,
    LARGEST_PAGE,
    SHORTEST_LPN_ID,
)

LARGEST_ID: Final = 999_999_999
LONGEST_NUMBER: Final = 64
# As far as the API's own counting reaches with the largest pages.
LAST_PAGE: Final = 20_000_000


def _id(description: str, example: int) -> dict[str, Any]:
    """The number of something, as a number or as text."""
    return {
        "description": description,
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
            {"type": "string", "pattern": "^[1-9][0-9]{0,8}$"},
        ],
        "examples": [example],
    }


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


BREED_ID: Final = _id("Breed id, as nsip_list_breeds gives it.", 640)
BREED_GROUP_ID: Final = _id(
    "Breed group id. Accepted, but the statuses are the same for every group.", 64
)
LPN_ID: Final = _text(
    "LPN id of the animal: flock, year of birth and tag in one.",
    minLength=SHORTEST_LPN_ID,
    maxLength=LONGEST_NUMBER,
    examples=[EXAMPLE_LPN_ID],
)
SEARCH_STRING: Final = _text(
    "LPN id or registration number of the animal.",
    minLength=1,
    maxLength=LONGEST_NUMBER,
    examples=[EXAMPLE_LPN_ID],
)
PAGES: Final[Mapping[str, Any]] = {
    "page": {
        "type": "integer",
        "minimum": 1,
        "maximum": LAST_PAGE,
        "default": 1,
        "description": "Page number; the first page is 1.",
    },
    "page_size": {
        "type": "integer",
        "minimum": 1,
        "maximum": LARGEST_PAGE,
        "default": DEFAULT_PAGE_SIZE,
        "description": f"Number of results per page, at most {LARGEST_PAGE}.",
    },
}
SORTING: Final[Mapping[str, Any]] = {
    "sorted_trait": _text(
        "Trait to sort by.", pattern="^[A-Za-z0-9]{2,12}$", examples=["BWT", "WWT"]
    ),
    "reverse": {"type": "boolean", "description": "Sort in reverse order."},
}
DAY: Final = {"format": "date", "examples": ["2020-01-31"]}
SEARCH_CRITERIA: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "Further filters; an animal must fit all of them.",
    "properties": {
        "breed_group_id": _id("Breed group id, as nsip_list_breeds gives it.", 64),
        "breed_id": BREED_ID,
        "born_after": _text("Born on this day or later.", **DAY),
        "born_before": _text("Born on this day or earlier.", **DAY),
        "gender": {
            "type": "string",
            "enum": ["Male", "Female", "Both"],
            "description": "Which animals to find.",
        },
        "proven_only": {"type": "boolean", "description": "Only animals that are proven."},
        "status": _text("Status, as nsip_get_statuses lists them.", minLength=1, maxLength=64),
        "flock_id": _text("Code of the flock.", minLength=1, maxLength=64),
        "trait_ranges": {
            "type": "object",
            "description": "Least and greatest value of traits, by trait: "
            "{'BWT': {'min': -1.0, 'max': 1.0}}.",
            "maxProperties": 40,
            "additionalProperties": {
                "type": "object",
                "properties": {"min": {"type": "number"}, "max": {"type": "number"}},
                "additionalProperties": False,
                "minProperties": 1,
            },
        },
    },
    "additionalProperties": False,
}


def arguments(properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    """The schema of a tool's arguments; no others are taken."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}
