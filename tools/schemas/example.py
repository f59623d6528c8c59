"""Arguments that a JSON Schema accepts, to show how a tool is called.

What the schema itself gives comes first: a default, an example, a choice. Only what is required is filled in.
Patterns and conditions are not solved; where one stands, what is made here is a beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

DEEPEST: Final = 6
MOST_PARTS: Final = 1_000
# Of lists and texts: whoever asks for more gets a beginning.
LONGEST: Final = 100
_FORMATS: Final = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "somebody@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
}


def example_of(schema: Any) -> Any:
    """A value for `schema`."""
    return _Maker(schema).value(schema, 0)


class _Maker:
    """Makes one example. It counts its parts: a schema that refers to itself could ask for millions."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MOST_PARTS

    def value(self, schema: Any, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > DEEPEST or self._left < 0:
            return None
        given = _given(schema)
        if given:
            return given[0]
        if "$ref" in schema:
            return self.value(target_of(schema["$ref"], self._root), depth + 1)
        for several in ("anyOf", "oneOf"):
            if schema.get(several):
                return self.value(_first(schema[several]), depth + 1)
        if schema.get("allOf"):
            return self.value(_together(schema), depth + 1)
        return self._by_type(schema, depth)

    def _by_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind == "object" or (kind is None and "properties" in schema):
            properties = schema.get("properties") or {}
            return {
                name: self.value(properties.get(name, {}), depth + 1)
                for name in schema.get("required") or ()
            }
        if kind == "array":
            least = min(int(schema.get("minItems", 0)), LONGEST)
            items = schema.get("prefixItems") or [schema.get("items", {})] * least
            return [self.value(one, depth + 1) for one in items]
        if kind in {"integer", "number"}:
            return _number(schema, whole=kind == "integer")
        if kind == "boolean":
            return False
        return _text(schema) if kind in {"string", None} else None


def _given(schema: Mapping[str, Any]) -> list[Any]:
    """What the schema says itself, the best first."""
    found = [schema[name] for name in ("default", "const") if name in schema]
    for name in ("examples", "enum"):
        if isinstance(schema.get(name), list):
            found += schema[name][:1]
    return found


def _first(choices: Any) -> Any:
    """The first that is more than nothing at all."""
    useful = (one for one in choices if isinstance(one, Mapping) and one.get("type") != "null")
    return next(useful, {"type": "null"})


def _together(schema: Mapping[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {"properties": {}, "required": []}
    for part in ({key: one for key, one in schema.items() if key != "allOf"}, *schema["allOf"]):
        if isinstance(part, Mapping):
            merged["properties"] |= part.get("properties") or {}
            merged["required"] = [*merged["required"], *(part.get("required") or [])]
            rest = {key: one for key, one in part.items() if key not in {"properties", "required"}}
            merged = {**merged, **rest}
    return merged


def _number(schema: Mapping[str, Any], *, whole: bool) -> float:
    step = schema.get("multipleOf") or (1 if whole else 0.5)
    least = schema.get("minimum")
    if least is None and "exclusiveMinimum" in schema:
        least = schema["exclusiveMinimum"] + step
    most = schema.get("maximum")
    if most is None and "exclusiveMaximum" in schema:
        most = schema["exclusiveMaximum"] - step
    if least is None:
        least = min(1, most) if most is not None else 1
    if schema.get("multipleOf"):
        least = -(-least // step) * step
    return int(least) if whole else least


def _text(schema: Mapping[str, Any]) -> str:
    text = _FORMATS.get(str(schema.get("format")), "text")
    least = min(int(schema.get("minLength", 0)), LONGEST)
    most = int(schema.get("maxLength", len(text)))
    return text.ljust(least, "x")[: max(most, least)]


def target_of(reference: Any, root: Any) -> Any:
    """What a reference within the schema points at; None for others."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found = root
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
