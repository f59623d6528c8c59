"""The note inside a shortened result that says what was left out, where, and how to read on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Path = tuple[str | int, ...]
Unit = Literal["items", "keys", "characters"]

# Pages of the tool `read_result` where no size is asked for.
ITEMS_PER_PAGE: Final = 20
CHARACTERS_PER_PAGE: Final = 8000


@dataclass(frozen=True, slots=True)
class Omission:
    """One place that was cut: `kept` of `total` items, keys or characters are still there.

    The first `leading` of them are among those; reading on begins there.
    """

    path: Path
    kept: int
    total: int
    unit: Unit
    leading: int = 0

    def cursor(self) -> dict[str, Any]:
        """Arguments of `read_result` for the page where what is missing begins.

        The page may begin with a little that is known already: pages have fixed borders.
        """
        size = CHARACTERS_PER_PAGE if self.unit == "characters" else ITEMS_PER_PAGE
        page = min(self.leading, max(0, self.total - 1)) // size + 1
        return {"pointer": pointer(self.path), **({"page": page} if page > 1 else {})}


def report(
    omissions: Sequence[Omission], most: int, *, cursors: bool = False
) -> list[dict[str, Any]]:
    """At most `most` entries, the outermost places first; cuts of the same kind in each item of a
    list are one entry, with `*` for the position in the list.

    With `cursors` each has under `next` how to read on (at the first place of a group).
    """
    groups: dict[tuple[Path, Unit], list[Omission]] = {}
    for omission in omissions:
        pattern = tuple("*" if isinstance(part, int) else part for part in omission.path)
        groups.setdefault((pattern, omission.unit), []).append(omission)
    ordered = sorted(groups.items(), key=lambda group: len(group[0][0]))
    entries = [_entry(pattern, members, cursors) for (pattern, _), members in ordered[:most]]
    if len(ordered) > most:
        entries.append({"further_places": sum(len(members) for _, members in ordered[most:])})
    return entries


def _entry(pattern: Path, members: list[Omission], cursors: bool) -> dict[str, Any]:
    single = len(members) == 1
    return {
        "pointer": pointer(members[0].path if single else pattern),
        **({} if single else {"places": len(members)}),
        "kept": sum(member.kept for member in members),
        "total": sum(member.total for member in members),
        "unit": members[0].unit,
        **({"next": members[0].cursor()} if cursors else {}),
    }


def pointer(path: Path) -> str:
    """`path` as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
