"""Schemas that judge the same value by themselves again: no validator comes to an end with them.

The usual case is a base that lists its kinds (`oneOf`) while each kind includes the base (`allOf`). The
kinds then include the base without its list. A tree, where a property holds the same schema one level
down, is no such loop and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tools.openapi.faults import Unservable
from tools.openapi.walking import (
    DEFINITIONS,
    IN_PLACE_LISTED,
    IN_PLACE_ONE,
    references,
)

MOST_INCLUDED: Final = 1_000
_BASE: Final = "__base"
_HOLDERS: Final = (*IN_PLACE_ONE, "anyOf", "oneOf", "dependentSchemas", "$ref")


class Loops:
    """Opens the loops among definitions, which `raw` gives by name."""

    def __init__(self, raw: Callable[[str], Any]) -> None:
        self._raw = raw
        self._reach: dict[tuple[str, bool], frozenset[str]] = {}
        self._opened: dict[str, Any] = {}
        self._weights: dict[str, int] = {}
        # Definitions of which a part had to go.
        self.cut: set[str] = set()

    def opened(self, name: str) -> Any:
        """The definition `name` such that validating by it ends."""
        if name not in self._opened:
            if name.endswith(_BASE):
                self._opened[name] = self._base(name.removesuffix(_BASE))
            elif name in self._reached(name):
                self._opened[name] = self._open(name)
            else:
                self._opened[name] = self._raw(name)
        return self._opened[name]

    def weight(self, name: str) -> int:
        """How many definitions judge one value when `name` does."""
        if name not in self._weights:
            targets = references(self.opened(name), in_place=True)
            self._weights[name] = 1 + sum(self.weight(target) for target in targets)
        return self._weights[name]

    def _reached(self, name: str, *, without_all_of: bool = False) -> frozenset[str]:
        """Every definition that judges the same value as `name`, itself only when there is a loop."""
        key = (name, without_all_of)
        if key not in self._reach:
            found: set[str] = set()
            waiting = [name]
            while waiting:
                schema = self._raw(waiting.pop())
                if without_all_of and isinstance(schema, Mapping):
                    schema = {key: value for key, value in schema.items() if key != "allOf"}
                new = set(references(schema, in_place=True)) - found
                found.update(new)
                waiting.extend(new)
                if len(found) > MOST_INCLUDED:
                    raise Unservable(f"The schema {name} includes too many others. Simplify it.")
            self._reach[key] = frozenset(found)
        return self._reach[key]

    def _in_loop(self, name: str, schema: Any, *, without_all_of: bool = False) -> bool:
        """Whether `schema`, a part of the definition `name`, leads back to that definition."""
        return any(
            name == target or name in self._reached(target, without_all_of=without_all_of)
            for target in references(schema, in_place=True)
        )

    def _open(self, name: str) -> dict[str, Any]:
        schema = dict(self._raw(name))
        included = [self._included(name, item) for item in schema.get("allOf", ())]
        schema.pop("allOf", None)
        for key in _HOLDERS:
            if key in schema and self._in_loop(name, {key: schema[key]}, without_all_of=True):
                del schema[key]
                self.cut.add(name)
        if None in included:
            self.cut.add(name)
        if kept := [item for item in included if item is not None]:
            schema["allOf"] = kept
        return schema

    def _included(self, name: str, item: Any) -> Any:
        """A member of `allOf` that does not lead back; None when nothing of it can stay."""
        if not self._in_loop(name, item):
            return item
        if isinstance(item, Mapping) and "$ref" in item and not _nested(item):
            target = str(item["$ref"]).removeprefix(DEFINITIONS)
            return None if target == name else {**item, "$ref": f"{DEFINITIONS}{target}{_BASE}"}
        return None

    def _base(self, name: str) -> dict[str, Any]:
        """The definition without any part that leads back to it."""
        schema = dict(self._raw(name))
        for key in _HOLDERS:
            if key in schema and self._in_loop(name, {key: schema[key]}):
                del schema[key]
        if "allOf" in schema:
            kept = [item for item in schema["allOf"] if not self._in_loop(name, item)]
            schema.pop("allOf")
            if kept:
                schema["allOf"] = kept
        return schema


def _nested(item: Mapping[str, Any]) -> bool:
    return any(key in item for key in (*IN_PLACE_ONE, *IN_PLACE_LISTED))
