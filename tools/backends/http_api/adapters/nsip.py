"""The nine tools over the NSIP Search API of sheep genetics.

Arguments are as agents send them; answers carry the data that nsip-client gives for the same
request, from either shape of the API. Nothing is asked with arguments that cannot be right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from tools.backends.http_api.adapters.nsip_animals import animal_details
from tools.backends.http_api.adapters.nsip_arguments import (
    Page,
    criteria,
    lpn_id,
    search_string,
    whole_number,
)
from tools.backends.http_api.adapters.nsip_asking import ask, not_found, object_of
from tools.backends.http_api.adapters.nsip_endpoints import (
    BREED_GROUPS,
    DETAILS,
    LAST_UPDATE,
    LINEAGE,
    PROGENY,
    SEARCH,
    STATUSES,
    TRAIT_RANGES,
)
from tools.backends.http_api.adapters.nsip_lineage import lineage
from tools.backends.http_api.adapters.nsip_lists import (
    breed_groups,
    progeny_page,
    search_page,
    statuses,
)
from tools.backends.http_api.fetching import Adapter, Fetch

# As many as nsip-client's `search_by_lpn` has.
PROFILE_PROGENY: Final = Page(number=1, size=10)


async def get_last_update(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """When the database was last brought up to date."""
    return await ask(fetch, LAST_UPDATE, {}, object_of)


async def list_breeds(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """The breed groups with their breeds."""
    return await ask(fetch, BREED_GROUPS, {}, breed_groups)


async def get_statuses(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """The statuses of animals. They are the same for all breed groups, so none is asked for."""
    return await ask(fetch, STATUSES, {}, statuses)


async def get_trait_ranges(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """The least and the greatest value of each trait within a breed."""
    breed = whole_number(arguments, "breed_id")
    return await ask(fetch, TRAIT_RANGES, {"breed_id": breed}, object_of)


async def search_animals(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """One page of the animals that fit."""
    page = Page.of(arguments)
    wire: dict[str, Any] = {**page.to_wire(), "search_criteria": criteria(arguments)}
    if arguments.get("breed_id") is not None:
        wire["breed_id"] = whole_number(arguments, "breed_id")
    for name in ("sorted_trait", "reverse"):
        if arguments.get(name) not in (None, ""):
            wire[name] = arguments[name]
    return await ask(fetch, SEARCH, wire, lambda data: search_page(data, page))


async def get_animal(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """All that is known of one animal."""
    return await _details(fetch, search_string(arguments), "search_string")


async def get_lineage(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """The pedigree of one animal."""
    return await _lineage(fetch, lpn_id(arguments))


async def get_progeny(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """One page of an animal's offspring."""
    return await _progeny(fetch, lpn_id(arguments), Page.of(arguments))


async def search_by_lpn(fetch: Fetch, arguments: Mapping[str, Any]) -> Any:
    """Details, pedigree and the first offspring of one animal, asked for at the same time."""
    animal = lpn_id(arguments)
    try:
        async with asyncio.TaskGroup() as group:
            details = group.create_task(_details(fetch, animal, "lpn_id"))
            pedigree = group.create_task(_lineage(fetch, animal))
            offspring = group.create_task(_progeny(fetch, animal, PROFILE_PROGENY))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return {
        "details": details.result(),
        "lineage": pedigree.result(),
        "progeny": offspring.result(),
    }


async def _details(fetch: Fetch, searched: str, parameter: str) -> dict[str, Any]:
    found = await ask(
        fetch, DETAILS, {"search_string": searched}, animal_details, (parameter, searched)
    )
    if not found["lpn_id"]:
        raise not_found(parameter, searched)
    return found


async def _lineage(fetch: Fetch, animal: str) -> dict[str, Any]:
    found = await ask(fetch, LINEAGE, {"lpn_id": animal}, lineage, ("lpn_id", animal))
    if found["subject"] is None:
        raise not_found("lpn_id", animal)
    return found


async def _progeny(fetch: Fetch, animal: str, page: Page) -> dict[str, Any]:
    return await ask(
        fetch,
        PROGENY,
        {"lpn_id": animal, **page.to_wire()},
        lambda data: progeny_page(data, page),
        ("lpn_id", animal),
    )


NSIP_ADAPTERS: Final[Mapping[str, Adapter]] = {
    "nsip_get_last_update": get_last_update,
    "nsip_list_breeds": list_breeds,
    "nsip_get_statuses": get_statuses,
    "nsip_get_trait_ranges": get_trait_ranges,
    "nsip_search_animals": search_animals,
    "nsip_get_animal": get_animal,
    "nsip_get_lineage": get_lineage,
    "nsip_get_progeny": get_progeny,
    "nsip_search_by_lpn": search_by_lpn,
}
