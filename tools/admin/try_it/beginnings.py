"""What parts of a schema begin with: their defaults, and rows where some have to be filled in."""

from __future__ import annotations

from typing import Any, Final

from tools.admin.try_it.kinds import Kind, kind_of, plain

# As many rows as a list asks for are shown at first, within reason.
MOST_ROWS: Final = 10
# Recursive schemas multiply with every level; a longer form nobody fills in.
MOST_PARTS: Final = 400


class Beginnings:
    """Values of one schema. None stands for what is still to be filled in."""

    def __init__(self, root: Any, most_rows: int = MOST_ROWS) -> None:
        self._root = root
        self._most_rows = most_rows
        self._left = MOST_PARTS

    def of(self, schema: Any, name: str, depth: int) -> Any:
        """What a required part begins with, or a row."""
        known = plain(schema, self._root)
        self._left -= 1
        if self._left < 0:
            return None
        if known.get("default") is not None:
            return known["default"]
        match kind_of(name, known, depth):
            case Kind.OBJECT:
                return self.properties(known, depth)
            case Kind.LIST:
                return [
                    self.of(known["items"], str(number), depth + 1)
                    for number in range(self._rows(known))
                ]
        return None

    def properties(self, known: dict[str, Any], depth: int) -> dict[str, Any]:
        """Those of a group. Optional groups in it stay empty: filled in they would be sent."""
        wanted = known.get("required")
        required = wanted if isinstance(wanted, list) else []
        found: dict[str, Any] = {}
        for key, inner in known["properties"].items():
            part = plain(inner, self._root)
            if key in required or part.get("default") is not None:
                value = self.of(inner, key, depth + 1)
                if value is not None:
                    found[key] = value
        return found

    def _rows(self, known: dict[str, Any]) -> int:
        """One at least, to be filled in."""
        asked = known.get("minItems")
        return max(1, min(asked, self._most_rows)) if isinstance(asked, int) else 1
