"""How the answers of one operation are shortened, as its operator wrote it down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.context.paths import Pattern
from tools.context.summaries import SUMMARIES

PATH_LISTS: Final = ("keep", "drop", "whole", "page")
FLAGS: Final = ("always", "metadata")
TOP_KEYS: Final = ("path", "by", "count", "floor")
KEYS: Final = (*PATH_LISTS, "top", "summary", *FLAGS)
MOST_PATHS: Final = 100


@dataclass(frozen=True, slots=True)
class Top:
    """Of the entries of a list (or an object) at `path`, the best `count` by the number in `by`.

    One without such a number counts as 0; those below `floor` go. An empty `by` is for lists of
    numbers.
    """

    path: str
    by: str
    count: int
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for answers above the budget; without any, each answer is cut by its shape alone.

    `keep` stays whole whatever its size, and so do the lists in `whole`; `drop` goes first. Of lists
    in `top` the best stay; of those in `page` the first, each item whole. `summary` names a form
    made for this kind of answer, which has what it has; the rules before it are for answers that it
    does not fit. `always` asks for the form whatever the size, `metadata` for the details that it
    leaves out otherwise.
    """

    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    top: tuple[Top, ...] = ()
    whole: tuple[str, ...] = ()
    page: tuple[str, ...] = ()
    summary: str = ""
    always: bool = False
    metadata: bool = False

    @property
    def structural(self) -> bool:
        """Whether any of them speaks of paths."""
        return bool(self.keep or self.drop or self.top or self.whole or self.page)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Rules:
        """Rules as the catalogue keeps them.

        Raises:
            ValueError: naming all that is wrong with them.
        """
        if found := faults(written):
            raise ValueError("; ".join(found))
        values: dict[str, Any] = {key: tuple(written.get(key, ())) for key in PATH_LISTS}
        values |= {key: written.get(key, False) for key in FLAGS}
        values["top"] = tuple(Top(**one) for one in written.get("top", ()))
        return cls(**values, summary=written.get("summary", ""))

    def to_json(self) -> dict[str, Any]:
        """The inverse of `from_json`; what is empty is left out."""
        written: dict[str, Any] = {key: list(getattr(self, key)) for key in PATH_LISTS}
        written["top"] = [
            {key: getattr(top, key) for key in TOP_KEYS if getattr(top, key) is not None}
            for top in self.top
        ]
        written |= {key: getattr(self, key) for key in ("summary", *FLAGS)}
        return {key: value for key, value in written.items() if value}


def faults(written: Any) -> list[str]:
    """What is wrong with rules as they were typed in, a sentence each; nothing when they are good."""
    if not isinstance(written, Mapping):
        return ["Rules are a JSON object"]
    unknown = [str(key) for key in written if key not in KEYS]
    found = [f"{key} is not a rule; there are {', '.join(KEYS)}" for key in unknown]
    for key in PATH_LISTS:
        found += _path_faults(key, written.get(key, []))
    found += _top_faults(written.get("top", []))
    found += [
        f"{key} is true or false" for key in FLAGS if not isinstance(written.get(key, False), bool)
    ]
    summary = written.get("summary", "")
    if not isinstance(summary, str) or summary not in ("", *SUMMARIES):
        found.append(f"summary is one of {', '.join(sorted(SUMMARIES))}")
    if written.get("always") is True and not summary:
        found.append("always needs a summary")
    return found


def _path_faults(key: str, paths: Any) -> list[str]:
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
        return [f"{key} is a list of paths such as name, data.name or $.name"]
    if len(paths) > MOST_PATHS:
        return [f"{key} has at most {MOST_PATHS} paths"]
    return [f"{key}: {path[:100]!r}: {fault}" for path in paths for fault in _path_fault(path)]


def _path_fault(path: str) -> list[str]:
    try:
        Pattern.parse(path)
    except ValueError as fault:
        return [str(fault)]
    return []


def _top_faults(top: Any) -> list[str]:
    if not isinstance(top, list | tuple) or not all(isinstance(one, Mapping) for one in top):
        return ["top is a list of objects with path, by, count and, if wanted, floor"]
    return [f"top: {fault}" for one in top for fault in _one_top_faults(one)]


def _one_top_faults(one: Mapping[str, Any]) -> list[str]:
    found = [f"{key} is not known" for key in map(str, one) if key not in TOP_KEYS]
    path, by, count, floor = (one.get(key) for key in TOP_KEYS)
    found += _path_fault(path) if isinstance(path, str) else ["path is a path such as data.traits"]
    if not isinstance(by, str):
        found.append("by is the field to compare by")
    if type(count) is not int or count < 1:
        found.append("count is a whole number from 1")
    if floor is not None and (type(floor) not in (int, float) or not math.isfinite(floor)):
        found.append("floor is a number")
    return found
