"""Changes of fields as pages show them: before beside after, every difference marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any, Final

from tools.admin.json_fields import pretty
from tools.admin.upstream_diff import Shown, shown
from tools.upstreams.characters import visible
from tools.upstreams.differences import differences
from tools.upstreams.matching import Budget

# Above so many characters words are not compared, but lines.
LONGEST_IN_WORDS: Final = 4_000
CONTEXT_LINES: Final = 3
# Schemas are compared argument by argument, under the names that MCP has for them.
SCHEMAS: Final = {"input_schema": "inputSchema", "output_schema": "outputSchema"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a long text: on one side alone, or on both."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """What became of one field, in one of four ways."""

    name: str
    masked: bool = False
    cut: bool = False
    parts: list[Shown] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    note: str = ""


def kept_changes(changes: Mapping[str, Any]) -> list[FieldChange]:
    """What an entry of the audit trail has kept."""
    budget = Budget()
    return [
        _kept(name, became, budget) for name, became in changes.items() if isinstance(became, dict)
    ]


def compared(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    names: Iterable[str],
    notes: Mapping[str, str] | None = None,
) -> list[FieldChange]:
    """These fields of two definitions, beside each other."""
    said, budget = notes or {}, Budget()
    return [
        _compared(
            name,
            _told(before.get(name)),
            _told(after.get(name)),
            budget,
            note=said.get(name, ""),
        )
        for name in names
    ]


def _kept(name: str, became: Mapping[str, Any], budget: Budget) -> FieldChange:
    if became.get("masked"):
        return FieldChange(_label(name), masked=True)
    if "added" in became or "removed" in became:
        added, removed = became.get("added", []), became.get("removed", [])
        return FieldChange(_label(name), added=added, removed=removed)
    before, after = (_told(became[key]) if key in became else None for key in ("before", "after"))
    return _compared(name, before, after, budget, cut=bool(became.get("cut")))


def _compared(
    name: str, before: Any, after: Any, budget: Budget, *, cut: bool = False, note: str = ""
) -> FieldChange:
    """None stands for nothing there at all."""
    old, new = _text(before), _text(after)
    if max(len(old), len(new)) > LONGEST_IN_WORDS:
        return FieldChange(_label(name), cut=cut, lines=_lines(old, new), note=note)
    # What is new as a whole, or gone, needs no parts.
    whole = before is None or after is None
    key = _label(name) if whole else SCHEMAS.get(name, _label(name))
    parts = shown(differences({key: before}, {key: after}), budget)
    return FieldChange(_label(name), cut=cut, parts=parts, note=note)


def _told(value: Any) -> Any:
    """A value in words, where there would be nothing to see."""
    if value is None:
        return "none"
    return "empty" if value in ("", [], {}) else value


def _lines(old: str, new: str) -> list[Line]:
    words = {"+": "added", "-": "removed", "@": "place"}
    found = unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=CONTEXT_LINES)
    # The first two lines name files.
    return [Line(visible(text), words.get(text[:1], "")) for text in list(found)[2:]]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else pretty(value)


def _label(name: str) -> str:
    return name.replace("_", " ")
