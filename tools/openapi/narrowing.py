"""Which arguments that used to be accepted no longer are: two schemas compared, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tools.openapi.walking import DEFINITIONS

DEEPEST: Final = 12
_GROWING: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_SHRINKING: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_EXACT: Final = (
    *("pattern", "format", "const", "multipleOf", "uniqueItems", "not", "propertyNames"),
    *("patternProperties", "contains", "dependentRequired", "dependentSchemas"),
    *("if", "then", "else", "unevaluatedProperties", "unevaluatedItems"),
)
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
# Another form that is accepted as well takes nothing away.
_MAY_GROW: Final = frozenset({"anyOf", "oneOf"})

Schema = Mapping[str, Any]


class Narrowing:
    """Compares two whole schemas; references are followed in each."""

    def __init__(self, old: Schema, new: Schema) -> None:
        self._old, self._new = old, new
        self._seen: set[tuple[str, str]] = set()

    def reasons(self) -> list[str]:
        """Why callers that were right may now be wrong; empty when none can be."""
        return list(dict.fromkeys(self._compare(self._old, self._new, "", DEEPEST)))

    def _compare(self, old: Any, new: Any, where: str, depth: int) -> Iterator[str]:
        references = (_reference(old), _reference(new))
        if all(references):
            if references in self._seen:
                return
            self._seen.add(references)
        old, new = _resolved(self._old, old), _resolved(self._new, new)
        if depth == 0:
            yield f"{_named(where)} changed far inside"
            return
        yield from _types(old, new, where)
        yield from _values(old, new, where)
        yield from _limits(old, new, where)
        yield from self._fields(old, new, where, depth)
        yield from self._members(old, new, where, depth)
        if "items" in new:
            yield from self._compare(old.get("items", {}), new["items"], f"{where}[]", depth - 1)

    def _fields(self, old: Schema, new: Schema, where: str, depth: int) -> Iterator[str]:
        before, after = old.get("properties", {}), new.get("properties", {})
        needed = set(old.get("required", ()))
        for name in new.get("required", ()):
            # A default is filled in for callers who do not know of it.
            if name not in needed and "default" not in _resolved(self._new, after.get(name, {})):
                yield f"{_inside(where, name)} is now required"
        closed = new.get("additionalProperties") is False
        for name in before:
            if name in after:
                yield from self._compare(before[name], after[name], _inside(where, name), depth - 1)
            elif closed:
                yield f"{_inside(where, name)} was removed"
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if after is False and before is not False:
            yield f"{_named(where)} takes no further keys"
        elif isinstance(after, Mapping) and before is not False:
            yield from self._compare(before, after, f"{where}.*", depth - 1)

    def _members(self, old: Schema, new: Schema, where: str, depth: int) -> Iterator[str]:
        for key in _LISTED:
            before, after = old.get(key, []), new.get(key, [])
            grown = key in _MAY_GROW and before and len(after) > len(before)
            if after and len(after) != len(before) and not grown:
                yield f"{_named(where)} has another {key}"
                continue
            for one, other in zip(before, after, strict=False):
                yield from self._compare(one, other, where, depth - 1)


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _named(where: str) -> str:
    return where or "the arguments"


def _reference(schema: Any) -> str:
    return str(schema.get("$ref", "")) if isinstance(schema, Mapping) else ""


def _resolved(root: Schema, schema: Any) -> Schema:
    """`schema` with its definition; False accepts nothing, True everything."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    for _ in range(DEEPEST):
        if "$ref" not in schema:
            break
        target = root.get("$defs", {}).get(_reference(schema).removeprefix(DEFINITIONS), {})
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = (
            {**_resolved(root, target), **beside}
            if isinstance(target, bool)
            else {**target, **beside}
        )
    return dict(schema)


def _type_set(schema: Schema) -> set[str] | None:
    stated = schema.get("type")
    if stated is None:
        return None
    return set(stated) if isinstance(stated, list) else {stated}


def _types(old: Schema, new: Schema, where: str) -> Iterator[str]:
    before, after = _type_set(old), _type_set(new)
    if after is None:
        return
    after = after | {"integer"} if "number" in after else after
    if before is None:
        yield f"{_named(where)} must now be {' or '.join(sorted(after))}"
    elif lost := before - after:
        yield f"{_named(where)} can no longer be {' or '.join(sorted(lost))}"


def _values(old: Schema, new: Schema, where: str) -> Iterator[str]:
    if "enum" not in new:
        return
    if "enum" not in old:
        yield f"{_named(where)} now has a fixed list of values"
        return
    lost = [value for value in old["enum"] if value not in new["enum"]]
    if lost:
        shown = ", ".join(str(value)[:40] for value in lost[:5])
        yield f"{_named(where)} no longer takes {shown}"


def _limits(old: Schema, new: Schema, where: str) -> Iterator[str]:
    for key in _GROWING:
        if key in new and (key not in old or new[key] > old[key]):
            yield f"{_named(where)} has a new {key} of {new[key]}"
    for key in _SHRINKING:
        if key in new and (key not in old or new[key] < old[key]):
            yield f"{_named(where)} has a new {key} of {new[key]}"
    for key in _EXACT:
        if key in new and new[key] != old.get(key):
            yield f"{_named(where)} has another {key}"
