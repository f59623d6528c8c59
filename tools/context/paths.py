"""Paths that rules name parts of an answer by.

One name is a key at any depth: `notes`. Several, joined by dots, lead from the top: `data.animal`;
`$.notes` is the key at the top only. Lists are passed through: `records.notes` is a key of each
record. `*` is any key. A dot in a key is written with a backslash before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tools.context.omissions import Path

ROOT: Final = "$"
ANY: Final = "*"
MOST_STEPS: Final = 20
_DOT: Final = re.compile(r"(?<!\\)\.")

_Waiting = tuple[Any, Path, int]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A path as rules write it. `anywhere`: its one name is looked for at any depth."""

    steps: tuple[str, ...]
    anywhere: bool

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Raises ValueError for what is not a path."""
        steps = tuple(step.replace("\\.", ".") for step in _DOT.split(text))
        rooted = len(steps) > 1 and steps[0] == ROOT
        steps = steps[1:] if rooted else steps
        if not all(steps):
            raise ValueError("a path has a name before and after each dot")
        if len(steps) > MOST_STEPS:
            raise ValueError(f"a path has at most {MOST_STEPS} names")
        if steps == (ANY,) and not rooted:
            raise ValueError("* alone would be everything; name a key")
        return cls(steps, anywhere=len(steps) == 1 and not rooted)


@dataclass(frozen=True, slots=True)
class Spot:
    """An entry that a path leads to: the key of an object, and where that object is."""

    parent: dict[str, Any]
    key: str
    path: Path

    @property
    def value(self) -> Any:
        return self.parent[self.key]


def spots(value: Any, pattern: Pattern) -> Iterator[Spot]:
    """The entries in `value` that `pattern` leads to, outer ones before those in them."""
    waiting: list[_Waiting] = [(value, (), 0)]
    while waiting:
        current, path, depth = waiting.pop()
        if isinstance(current, list | tuple):
            items = [(item, (*path, place), depth) for place, item in enumerate(current)]
            waiting.extend(reversed([item for item in items if _is_container(item[0])]))
        elif isinstance(current, dict):
            # Looked at before the caller gets hold of it: it may take the entry out.
            found = _matching(current, pattern.steps[depth])
            waiting.extend(reversed(_below(current, path, depth, pattern, found)))
            if depth == len(pattern.steps) - 1:
                yield from (Spot(current, key, path) for key in found)


def _matching(current: dict[str, Any], step: str) -> list[str]:
    if step == ANY:
        return list(current)
    return [step] if step in current else []


def _below(
    current: dict[str, Any], path: Path, depth: int, pattern: Pattern, found: list[str]
) -> list[_Waiting]:
    if pattern.anywhere:
        inner, depth = list(current), -1
    elif depth == len(pattern.steps) - 1:
        return []
    else:
        inner = found
    return [
        (current[key], (*path, str(key)), depth + 1) for key in inner if _is_container(current[key])
    ]


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)
