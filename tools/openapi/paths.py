"""Keys of `paths` as requests: what follows a `#` only tells overloads apart, `?` starts a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `query` is sent with every call, `asked` names parameters by variable."""

    path: str
    query: Mapping[str, str]
    asked: Mapping[str, str]


def target(key: str) -> Target:
    """The request that the key of a path stands for."""
    path, _, query = key.partition("#")[0].partition("?")
    fixed: dict[str, str] = {}
    asked: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if variable := _VARIABLE.fullmatch(value):
            asked[variable[1]] = name
        else:
            fixed[name] = value
    return Target(path, fixed, asked)


def variables(path: str) -> list[str]:
    """The parameters that `path` names, each once."""
    return list(dict.fromkeys(_VARIABLE.findall(path)))


def with_query(
    goal: Target, parameters: tuple[Mapping[str, Any], ...]
) -> tuple[Mapping[str, Any], ...]:
    """`parameters` in which those that stand in the query of the key are parameters of the query."""
    moved: list[Mapping[str, Any]] = [
        {**one, "in": "query", "name": goal.asked[one["name"]]}
        if one["in"] == "path" and one["name"] in goal.asked
        else one
        for one in parameters
    ]
    known = {one["name"] for one in moved if one["in"] == "query"}
    unknown = dict.fromkeys(name for name in goal.asked.values() if name not in known)
    undescribed = ({"name": name, "in": "query", "schema": {"type": "string"}} for name in unknown)
    return (*moved, *undescribed)
