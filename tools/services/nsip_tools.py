"""The shipped service over the NSIP Search API: what it is, and its nine tools, as plain values.

The descriptions follow the documentation of nsip-client; the arguments are those of its methods,
but for pages, which count from 1 here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tools.backends.http_api.adapters.nsip_endpoints import (
    BREED_GROUPS,
    DETAILS,
    LAST_UPDATE,
    LINEAGE,
    PROGENY,
    SEARCH,
    STATUSES,
    TRAIT_RANGES,
    Endpoint,
)
from tools.operations import Operation, Parameter, Place, Service
from tools.services.nsip_schemas import (
    BREED_GROUP_ID,
    BREED_ID,
    LPN_ID,
    PAGES,
    SEARCH_CRITERIA,
    SEARCH_STRING,
    SORTING,
    arguments,
)

PREFIX: Final = "nsip_"
TITLE: Final = "NSIP sheep genetics"
ABOUT: Final = (
    "The public search of the National Sheep Improvement Program: breeds, traits, animals, their "
    "pedigrees and offspring."
)
# Public, without a sign-in, and without TLS: the server has no certificate for its name.
NSIP: Final = Service(
    slug="nsip", base_url="http://nsipsearch.nsip.org/api", timeout_seconds=30, retries=2
)
PAGE_KEYS: Final = ("total_count", "page", "page_size", "total_pages", "next_page")


@dataclass(frozen=True, slots=True)
class NsipTool:
    """One tool. `method_name` is the method of nsip-client that does the same.

    `rules` say how a long answer is shortened; `preserve_keys` stay in it whatever happens.
    """

    name: str
    title: str
    description: str
    method_name: str
    operation: Operation
    input_schema: Mapping[str, Any]
    preserve_keys: tuple[str, ...] = ()
    rules: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = True
    idempotent: bool = True
    cache_ttl_seconds: int = 3600
    requires_context_management: bool = True
    # More than the service's own limit, so that its time-out is told as such.
    timeout_seconds: int = 40

    @property
    def adapter(self) -> str:
        """The code that does the work."""
        return self.name


def _tool(name: str, endpoint: Endpoint, title: str, description: str, **more: Any) -> NsipTool:
    return NsipTool(
        name=PREFIX + name,
        title=title,
        description=description,
        method_name=more.pop("method_name", endpoint.method),
        operation=more.pop("operation", endpoint.operation),
        input_schema=more.pop("input_schema", arguments({})),
        **more,
    )


NSIP_TOOLS: Final[tuple[NsipTool, ...]] = (
    _tool(
        "get_last_update",
        LAST_UPDATE,
        "Date of the last update",
        "Get the date when the NSIP database was last updated. "
        "Answers an object with that date, such as {'date': '09/23/2025'}.",
    ),
    _tool(
        "list_breeds",
        BREED_GROUPS,
        "Breed groups and breeds",
        "Get the list of available breed groups with their breeds. Answers the id and name of each "
        "group and of the breeds in it; the breed ids are what the other tools take as breed_id.",
    ),
    _tool(
        "get_statuses",
        STATUSES,
        "Statuses of animals",
        "Get the list of available animal statuses, such as CURRENT, SOLD, DEAD, COMMERCIAL and "
        "CULL, by which nsip_search_animals can filter. They are the same for all breed groups.",
        input_schema=arguments({"breed_group_id": BREED_GROUP_ID}),
    ),
    _tool(
        "get_trait_ranges",
        TRAIT_RANGES,
        "Trait ranges of a breed",
        "Get the trait ranges of a specific breed: the minimum and maximum value of each trait, "
        "such as {'BWT': {'min': -0.713, 'max': 0.0}}. Helps to choose limits for a search.",
        input_schema=arguments({"breed_id": BREED_ID}, required=("breed_id",)),
    ),
    _tool(
        "search_animals",
        SEARCH,
        "Search for animals",
        "Search for animals based on criteria: breed, birth, gender, status, flock and trait "
        "ranges, sorted by a trait. Answers one page of animals (at most 100) with the total count "
        "and, while there are more, the number of the next page.",
        input_schema=arguments(
            {"breed_id": BREED_ID, **SORTING, "search_criteria": SEARCH_CRITERIA, **PAGES}
        ),
        preserve_keys=PAGE_KEYS,
        rules={"summary": "nsip_page"},
    ),
    _tool(
        "get_animal",
        DETAILS,
        "Details of an animal",
        "Get detailed information about a specific animal by its LPN id or registration number: "
        "breed, birth, gender, status, sire and dam, number of progeny, traits with their accuracy "
        "in percent, and the contact of its owner.",
        input_schema=arguments({"search_string": SEARCH_STRING}, required=("search_string",)),
        preserve_keys=("lpn_id", "sire", "dam", "breed", "total_progeny", "contact_info"),
        rules={"summary": "nsip_animal"},
    ),
    _tool(
        "get_lineage",
        LINEAGE,
        "Pedigree of an animal",
        "Get the lineage or pedigree information of an animal: the animal itself, its sire, its "
        "dam, and all known ancestors by generation, with farm, indexes, birth, sex and status.",
        input_schema=arguments({"lpn_id": LPN_ID}, required=("lpn_id",)),
        rules={"summary": "nsip_lineage"},
    ),
    _tool(
        "get_progeny",
        PROGENY,
        "Offspring of an animal",
        "Get the progeny (offspring) of a specific animal: one page of them with sex, date of "
        "birth and traits, the total count and, while there are more, the number of the next page.",
        input_schema=arguments({"lpn_id": LPN_ID, **PAGES}, required=("lpn_id",)),
        preserve_keys=PAGE_KEYS,
        rules={"summary": "nsip_page"},
    ),
    _tool(
        "search_by_lpn",
        DETAILS,
        "Profile of an animal",
        "Get all information about an animal by its LPN id in one call: its details, its lineage "
        "and the first page of its progeny, as nsip_get_animal, nsip_get_lineage and "
        "nsip_get_progeny would give them. Always answers a summary; the whole can be read after it.",
        method_name="search_by_lpn",
        operation=Operation(
            "GET", DETAILS.operation.path, (Parameter("lpn_id", "searchString", Place.QUERY),)
        ),
        input_schema=arguments({"lpn_id": LPN_ID}, required=("lpn_id",)),
        rules={"summary": "nsip_profile", "always": True},
    ),
)
