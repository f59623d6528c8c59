"""Which kind of control a part of a JSON Schema gets; what a form cannot express is edited as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from tools.schemas.example import target_of

# Deeper than this nobody finds their way in a form.
DEEPEST: Final = 5
LONGEST_LINE: Final = 120
LONG_NAMES: Final = frozenset(
    {"query", "question", "text", "prompt", "content", "body", "message", "code", "sql"}
)
_UNSOLVED: Final = frozenset(
    {"$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas"}
)
_SCALARS: Final = (str, int, float, bool, type(None))


class Kind(StrEnum):
    """How a part is filled in."""

    LINE = "line"
    LONG = "long"
    NUMBER = "number"
    CHOICE = "choice"
    OBJECT = "object"
    LIST = "list"
    JSON = "json"


def plain(schema: Any, root: Any) -> dict[str, Any]:
    """`schema` without what only wraps it: references, and null as one of two forms."""
    for _ in range(DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        inner, about = _wrapped(schema, root)
        if inner is None:
            return _without_null(schema)
        schema = {**inner, **about}
    return _without_null(schema)


def kind_of(name: str, schema: Mapping[str, Any], depth: int) -> Kind:
    """What a plain schema is filled in with."""
    if choices(schema):
        return Kind.CHOICE
    if depth > DEEPEST or not _UNSOLVED.isdisjoint(schema):
        return Kind.JSON
    type_ = schema.get("type")
    if type_ in {"integer", "number"}:
        return Kind.NUMBER
    if type_ == "string":
        return Kind.LONG if _is_long(name, schema) else Kind.LINE
    return _kind_of_many(schema)


def _kind_of_many(schema: Mapping[str, Any]) -> Kind:
    type_ = schema.get("type")
    if type_ in {"object", None} and _has_fields(schema):
        return Kind.OBJECT
    rows = type_ == "array" and isinstance(schema.get("items"), Mapping)
    return Kind.LIST if rows and "prefixItems" not in schema else Kind.JSON


def choices(schema: Mapping[str, Any]) -> list[Any]:
    """The values to choose from, where there are only so many."""
    if schema.get("type") == "boolean" and "enum" not in schema:
        return [True, False]
    found = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(found, list) and all(isinstance(one, _SCALARS) for one in found):
        return found
    return []


def _wrapped(
    schema: Mapping[str, Any], root: Any
) -> tuple[Mapping[str, Any] | None, dict[str, Any]]:
    """What a schema stands for, and what it says beside that."""
    if "$ref" in schema:
        inner, key = target_of(schema["$ref"], root), "$ref"
    else:
        key = next((one for one in ("anyOf", "oneOf", "allOf") if one in schema), "")
        forms = schema.get(key)
        forms = forms if isinstance(forms, list) else []
        useful = [one for one in forms if one != {"type": "null"}]
        inner = useful[0] if len(useful) == 1 else None
    about = {name: one for name, one in schema.items() if name != key}
    return (inner if isinstance(inner, Mapping) else None), about


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    types = schema.get("type")
    if not isinstance(types, list):
        return dict(schema)
    useful = [one for one in types if one != "null"]
    return {**schema, "type": useful[0] if len(useful) == 1 else useful}


def _is_long(name: str, schema: Mapping[str, Any]) -> bool:
    if schema.get("format"):
        return False
    most = schema.get("maxLength")
    if isinstance(most, int):
        return most > LONGEST_LINE
    default = schema.get("default")
    wordy = isinstance(default, str) and ("\n" in default or len(default) > LONGEST_LINE)
    return wordy or name.lower() in LONG_NAMES


def _has_fields(schema: Mapping[str, Any]) -> bool:
    properties = schema.get("properties")
    free = schema.get("additionalProperties") or schema.get("patternProperties")
    return isinstance(properties, Mapping) and bool(properties) and not free
