"""The pedigree of an animal, read from the tree of HTML snippets that NSIP answers.

The keys and values are those of nsip-client's `Lineage.to_dict()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

# Pedigrees come with four generations; a deeper tree is not read on for ever.
MOST_GENERATIONS: Final = 20


def _decimal(written: str) -> float | None:
    """One figure that cannot be read does not spoil a pedigree."""
    try:
        return float(written)
    except ValueError:
        return None


# What a snippet tells, one division for each: the farm's name first, the others labelled.
FACTS: Final[Mapping[str, tuple[re.Pattern[str], Callable[[str], Any]]]] = {
    "farm_name": (re.compile(r"<div>([^<]+)</div>"), str),
    "us_index": (re.compile(r"US (?:Hair )?Index: ([\d.]+)"), _decimal),
    "src_index": (re.compile(r"SRC\$ Index: ([\d.]+)"), _decimal),
    "date_of_birth": (re.compile(r"DOB: ([^<]+)"), str.strip),
    "sex": (re.compile(r"Sex: ([^<]+)"), str.strip),
    "status": (re.compile(r"Status: ([^<]+)"), str.strip),
}

Node = Mapping[str, Any]


def lineage(data: Mapping[str, Any]) -> dict[str, Any]:
    """Subject, sire, dam and all ancestors by generation; the subject is None when there is none.

    Raises KeyError for an answer of neither shape.
    """
    if not {"data", "lpnId"} & data.keys():
        raise KeyError("lpnId")
    node = (data["data"] or {}) if "data" in data else data
    parents = _parents(node)
    return {
        "subject": _animal(node),
        "sire": _animal(parents[0]) if parents else None,
        "dam": _animal(parents[1]) if len(parents) > 1 else None,
        "generations": _generations(node),
        "raw_data": data,
    }


def _generations(node: Node) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    generation = _parents(node)
    while generation and len(found) < MOST_GENERATIONS:
        found.append([known for one in generation if (known := _animal(one)) is not None])
        generation = [parent for one in generation for parent in _parents(one)]
    return found


def _parents(node: Node | None) -> list[Node | None]:
    """Sire and dam. One that is not known leaves its place, not the list."""
    children = (node or {}).get("children") or []
    if not isinstance(children, list):
        raise TypeError("a list of parents is expected")
    return [child if isinstance(child, Mapping) else None for child in children]


def _animal(node: Node | None) -> dict[str, Any] | None:
    if not node or "lpnId" not in node:
        return None
    return {"lpn_id": node["lpnId"], **_told(node.get("content") or "")}


def _told(content: str) -> dict[str, Any]:
    told = {}
    for name, (pattern, kind) in FACTS.items():
        found = pattern.search(content)
        told[name] = kind(found.group(1)) if found else None
    return told
