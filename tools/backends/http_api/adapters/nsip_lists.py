"""Lists of breeds, statuses, search results and offspring, in either shape of the NSIP API.

The keys and values are those of nsip-client, but for the page: it is the one that was asked for,
counted from 1, and `next_page` says which one to ask for next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.backends.http_api.adapters.nsip_arguments import Page


def breed_groups(data: Any) -> list[dict[str, Any]]:
    """The groups, each with its breeds."""
    groups = _rows(data["data"] if isinstance(data, Mapping) else data)
    return [
        {
            "id": _number(group, "breedGroupId", "Id", "id"),
            "name": _text(group, "breedGroupName", "Name", "name"),
            "breeds": [
                {
                    "id": _number(breed, "breedId", "Id", "id"),
                    "name": _text(breed, "breedName", "Name", "name"),
                }
                for breed in _rows(group.get("breeds") or group.get("Breeds"))
            ],
        }
        for group in groups
    ]


def statuses(data: Any) -> list[str]:
    """The statuses an animal may have."""
    listed = _rows(data["data"] if isinstance(data, Mapping) else data)
    return [str(status) for status in listed]


def search_page(data: Mapping[str, Any], page: Page) -> dict[str, Any]:
    """One page of search results; each is as the API gives it."""
    total, rows = _counted(data)
    return {"total_count": total, "results": rows, **page.report(total)}


def progeny_page(data: Mapping[str, Any], page: Page) -> dict[str, Any]:
    """One page of an animal's offspring."""
    total, rows = _counted(data)
    animals = [
        {
            "lpn_id": one.get("lpnId", one.get("LpnId", "")),
            "sex": one.get("sex", one.get("Sex")),
            "date_of_birth": one.get("dob", one.get("DateOfBirth")),
            "traits": one.get("Traits") or {},
        }
        for one in rows
    ]
    return {"total_count": total, "animals": animals, **page.report(total)}


def _counted(data: Mapping[str, Any]) -> tuple[int, list[Any]]:
    """The total and the rows of one page. Raises KeyError for an answer without a total."""
    if not {"recordCount", "TotalCount"} & data.keys():
        raise KeyError("recordCount")
    total = data.get("recordCount") or data.get("TotalCount") or 0
    return int(total), _rows(data.get("records") or data.get("Results"))


def _rows(value: Any) -> list[Any]:
    """A list; null is an empty one. Raises TypeError for anything else, which would be read as rows."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise TypeError("a list is expected")
    return value


def _number(row: Mapping[str, Any], *names: str) -> int:
    return int(_first(row, names) or 0)


def _text(row: Mapping[str, Any], *names: str) -> str:
    return str(_first(row, names) or "")


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name)), None)
