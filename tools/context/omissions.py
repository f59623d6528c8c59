"""The note inside a shortened result that says what was left out, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Path = tuple[str | int, ...]
Unit = Literal["items", "keys", "characters"]


@dataclass(frozen=True, slots=True)
class Omission:
    """One place that was cut: `kept` of `total` items, keys or characters are still there."""

    path: Path
    kept: int
    total: int
    unit: Unit


def report(omissions: list[Omission], most: int) -> list[dict[str, Any]]:
    """At most `most` entries, the outermost places first; cuts of the same kind in each item of a
    list are one entry, with `*` for the position in the list.
    """
    groups: dict[tuple[Path, Unit], list[Omission]] = {}
    for omission in omissions:
        pattern = tuple("*" if isinstance(part, int) else part for part in omission.path)
        groups.setdefault((pattern, omission.unit), []).append(omission)
    ordered = sorted(groups.items(), key=lambda group: len(group[0][0]))
    entries = [_entry(pattern, members) for (pattern, _), members in ordered[:most]]
    if len(ordered) > most:
        entries.append({"further_places": sum(len(members) for _, members in ordered[most:])})
    return entries


def _entry(pattern: Path, members: list[Omission]) -> dict[str, Any]:
    single = len(members) == 1
    return {
        "pointer": pointer(members[0].path if single else pattern),
        **({} if single else {"places": len(members)}),
        "kept": sum(member.kept for member in members),
        "total": sum(member.total for member in members),
        "unit": members[0].unit,
    }


def pointer(path: Path) -> str:
    """`path` as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
