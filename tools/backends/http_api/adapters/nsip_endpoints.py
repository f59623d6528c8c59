"""The requests of the NSIP Search API, under the names its public client gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools.operations import Operation, Parameter, Place


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One request of the API. `method` is what nsip-client calls it, and so do our errors."""

    method: str
    operation: Operation


def _query(**names: str) -> tuple[Parameter, ...]:
    """Parameters of the query: our names, and the API's."""
    return tuple(Parameter(ours, theirs, Place.QUERY) for ours, theirs in names.items())


LAST_UPDATE: Final = Endpoint(
    "get_date_last_updated", Operation("GET", "/search/getDateLastUpdated")
)
BREED_GROUPS: Final = Endpoint(
    "get_available_breed_groups", Operation("GET", "/search/getAvailableBreedGroups")
)
STATUSES: Final = Endpoint(
    "get_statuses_by_breed_group", Operation("GET", "/search/getStatusesByBreedGroup")
)
TRAIT_RANGES: Final = Endpoint(
    "get_trait_ranges_by_breed",
    Operation("GET", "/search/getTraitRangesByBreed", _query(breed_id="breedId")),
)
SEARCH: Final = Endpoint(
    "search_animals",
    Operation(
        "POST",
        "/search/getPageOfSearchResults",
        (
            *_query(page="page", page_size="pageSize", breed_id="breedId"),
            *_query(sorted_trait="sortedBreedTrait", reverse="reverse"),
            # Always there, `{}` at least: the API refuses a request without a JSON body.
            Parameter("search_criteria", "search_criteria", Place.BODY),
        ),
        body_type="application/json",
    ),
)
DETAILS: Final = Endpoint(
    "get_animal_details",
    Operation("GET", "/details/getAnimalDetails", _query(search_string="searchString")),
)
LINEAGE: Final = Endpoint(
    "get_lineage", Operation("GET", "/details/getLineage", _query(lpn_id="lpnId"))
)
PROGENY: Final = Endpoint(
    "get_progeny",
    Operation(
        "GET",
        "/details/getPageOfProgeny",
        _query(lpn_id="lpnId", page="page", page_size="pageSize"),
    ),
)
