"""What a later import of the same API changes, and whether those who call its tools must change too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.openapi.narrowing import Narrowing
from tools.openapi.values import Imported

# Warnings are about the import itself and no change of the API.
_IGNORED: Final = frozenset({"warnings"})


@dataclass(frozen=True, slots=True)
class Change:
    """One operation that is not as it was: in which fields, whether callers notice, and how."""

    key: str
    fields: tuple[str, ...]
    breaks: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Keys of operations that came, went and changed. One that went breaks its callers."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]

    @property
    def breaking(self) -> bool:
        """Whether some caller may have to change."""
        return bool(self.removed) or any(change.breaks for change in self.changed)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def diff(old: Mapping[str, Mapping[str, Any]], new: Imported) -> Changes:
    """Compare operations kept as JSON by their key with those of `new`.

    An operation that `new` refuses counts as removed: its tool would no longer work as imported.
    """
    now = {one.key: one.to_json() for one in new.operations}
    changed = (_change(key, old[key], now[key]) for key in now if key in old)
    return Changes(
        added=tuple(key for key in now if key not in old),
        removed=tuple(key for key in old if key not in now),
        changed=tuple(change for change in changed if change is not None),
    )


def _change(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Change | None:
    fields = tuple(name for name in new if name not in _IGNORED and old.get(name) != new.get(name))
    if not fields:
        return None
    notes = []
    if "name" in fields:
        notes.append(f"the tool is now called {new['name']}")
    if "input_schema" in fields:
        notes.extend(Narrowing(old.get("input_schema") or {}, new["input_schema"]).reasons())
    if "output_schema" in fields:
        notes.extend(_lost(old.get("output_schema"), new.get("output_schema")))
    breaks = bool(notes)
    if new.get("deprecated") and not old.get("deprecated"):
        notes.append("it is now deprecated")
    return Change(key=key, fields=fields, breaks=breaks, notes=tuple(notes))


def _lost(old: Any, new: Any) -> list[str]:
    """What the answer used to have and no longer promises."""
    if not isinstance(old, Mapping):
        return []
    if not isinstance(new, Mapping):
        return ["the answer is no longer described"]
    after = new.get("properties", {})
    gone = [name for name in old.get("properties", {}) if name not in after]
    return [f"the answer no longer has {name}" for name in gone]
