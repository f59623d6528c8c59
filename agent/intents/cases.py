"""The requests, what is right for each, and the tools they were written for.

A line of a part has `say`, `family`, `tool` (null: none fits) and `arguments`. `also` are tools that
are as right; `may` are arguments that may be there or not. An argument is given as it must be, or as
`{"$one_of": […]}`, or, for texts, as `{"$has": […]}`: phrases that must be in it. Texts are compared
without case, punctuation and articles. An argument that is the schema's default may be left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final

from agent.router import Choice, Offered

HERE: Final = Path(__file__).resolve().parent
PARTS: Final = {"development": "development.jsonl", "held-out": "held_out.jsonl"}
TOOLS: Final = HERE / "tools.json"
# The day on which the requests are made; a Wednesday.
TODAY: Final = date(2026, 11, 18)
_ARTICLES: Final = frozenset({"the", "a", "an", "my"})


@dataclass(frozen=True, slots=True)
class Case:
    """One request and what is right for it."""

    say: str
    family: str
    tool: str | None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    may: Mapping[str, Any] = field(default_factory=dict)

    def has_right_tool(self, choice: Choice | None) -> bool:
        return (choice.tool if choice else None) in (self.tool, *self.also)

    def has_right_arguments(self, choice: Choice | None, tools: Mapping[str, Offered]) -> bool:
        """Whether tool and arguments are right; a tool from `also` may take them by other names."""
        if not self.has_right_tool(choice):
            return False
        if choice is None:
            return True
        schema = tools[choice.tool].input_schema
        given = _without_defaults(choice.arguments, schema)
        expected = _without_defaults(self.arguments, schema)
        if choice.tool != self.tool:
            return list(map(_normal, given.values())) == list(map(_normal, expected.values()))
        required = [name for name in schema.get("required", ()) if name not in self.arguments]
        if list(choice.missing) != required:
            return False
        allowed = {name: value for name, value in self.may.items() if name in given}
        return _all_match({**expected, **allowed}, given)


def load(part: str) -> list[Case]:
    """The requests of a part."""
    lines = (HERE / PARTS[part]).read_text(encoding="utf-8").splitlines()
    return [_case(json.loads(line)) for line in lines if line.strip()]


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        say=row["say"],
        family=row["family"],
        tool=row["tool"],
        arguments=row.get("arguments", {}),
        also=tuple(row.get("also", ())),
        may=row.get("may", {}),
    )


def recorded_tools() -> list[Offered]:
    """The tools as they were when they were recorded."""
    rows = json.loads(TOOLS.read_text(encoding="utf-8"))
    return [Offered(**row) for row in rows]


def written(tools: Sequence[Offered]) -> str:
    """Tools as the file has them, by name."""
    rows = [asdict(tool) for tool in sorted(tools, key=lambda tool: tool.name)]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def _without_defaults(given: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {
        name: value
        for name, value in given.items()
        if name not in properties or properties[name].get("default", _NOTHING) != value
    }


_NOTHING: Final = object()


def _all_match(expected: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    return set(expected) == set(given) and all(
        _matches(value, given[name]) for name, value in expected.items()
    )


def _matches(expected: Any, given: Any) -> bool:
    if isinstance(expected, Mapping):
        if "$one_of" in expected:
            return any(_matches(one, given) for one in expected["$one_of"])
        if "$has" in expected:
            return all(_normal(part) in _normal(given) for part in expected["$has"])
        return isinstance(given, Mapping) and _all_match(expected, given)
    if isinstance(expected, bool) or isinstance(given, bool):
        return expected is given
    return bool(_normal(expected) == _normal(given))


def _normal(value: Any) -> Any:
    if isinstance(value, list):
        return [_normal(one) for one in value]
    if not isinstance(value, str):
        return value
    words = re.findall(r"\w+", value.lower())
    return " ".join(word for word in words if word not in _ARTICLES)
