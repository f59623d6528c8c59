"""Two definitions side by side, for the person who has to decide."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tools.upstreams.characters import visible
from tools.upstreams.matching import Budget, runs

MOST_COMPARED: Final = 2_000
_WORDS: Final = re.compile(r"\s+|\w+|.", re.DOTALL)
_SCHEMAS: Final[Mapping[str, str]] = {"inputSchema": "argument", "outputSchema": "result field"}
_LABELS: Final[Mapping[str, str]] = {
    "inputSchema": "arguments",
    "outputSchema": "result",
    "mimeType": "media type",
    "uriTemplate": "address",
    "uri": "address",
}

# Whether a piece is on this side alone, and the piece.
Part = tuple[bool, str]


class Parts(NamedTuple):
    """Two texts in pieces; `compared` is false where that would have been too much work."""

    old: list[Part]
    new: list[Part]
    compared: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where they differ. None stands for nothing there at all."""

    where: str
    old: str | None
    new: str | None

    def parts(self, budget: Budget) -> Parts:
        """Both texts in pieces that are the same, or on one side alone: whole, beyond the budget."""
        return _parts(self.old or "", self.new or "", budget)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """Where two definitions differ, field by field; schemas by argument. Nothing is left hidden."""
    found: list[Difference] = []
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if _same(before, after):
            continue
        # What has no parts of its own to tell apart is shown whole.
        inside = list(_inside(key, before, after))
        found += inside or [_difference(_LABELS.get(key, key), before, after)]
    return found


def _inside(key: str, old: Any, new: Any) -> Iterator[Difference]:
    """Where two values of a field differ, if both have the parts that such a field should have."""
    if not _is_mapping_or_none(old) or not _is_mapping_or_none(new):
        return
    if key in _SCHEMAS:
        yield from _in_schema(key, old or {}, new or {})
    elif key == "annotations":
        yield from _in_mapping("hint ", old or {}, new or {})


def _in_schema(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    properties = "properties"
    before, after = old.get(properties), new.get(properties)
    if _is_mapping_or_none(before) and _is_mapping_or_none(after):
        yield from _in_mapping(f"{_SCHEMAS[key]} ", before or {}, after or {})
        old, new = ({name: one[name] for name in one if name != properties} for one in (old, new))
    yield from _in_mapping(f"{_LABELS[key]}: ", old, new)


def _in_mapping(
    prefix: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Difference]:
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new or not _same(old[name], new[name]):
            where = f"{prefix}{visible(str(name))}"
            yield _difference(where, old.get(name), new.get(name))


def _difference(where: str, old: Any, new: Any) -> Difference:
    return Difference(where, _shown(old), _shown(new))


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    return visible(text)


def _same(one: Any, other: Any) -> bool:
    # As JSON, because Python takes true for 1.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _is_mapping_or_none(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def _parts(old: str, new: str, budget: Budget) -> Parts:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    long = len(before) > MOST_COMPARED or len(after) > MOST_COMPARED
    found = None if long else runs(before, after, budget)
    if found is None:
        return Parts(_whole(old), _whole(new), compared=False)
    left: list[Part] = []
    right: list[Part] = []
    for kind, start, end, first, last in found:
        if end > start:
            left.append((kind != "equal", "".join(before[start:end])))
        if last > first:
            right.append((kind != "equal", "".join(after[first:last])))
    return Parts(left, right)


def _whole(text: str) -> list[Part]:
    return [(True, text)] if text else []
