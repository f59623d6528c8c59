"""Schemas in fewer tokens, step by step, so that several fit into one answer.

Steps 1 to 3 drop only what is written for readers: a call that fits the short schema fits the whole
one. Step 4 keeps the names and types of the outer parameters, step 5 keeps no schema. Whoever
shortens must say so: `schema_shortened`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LAST_STEP: Final = 5
LONGEST_DESCRIPTION: Final = 300
LONGEST_HINT: Final = 100
# Words for readers; a property of such a name stands below `properties` and is not meant.
_TEXTS: Final = frozenset({"description", "title", "examples", "$comment"})
# Keywords whose keys are names chosen by the author, with a schema each.
_NAMED: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
# Keywords that hold a schema or a list of schemas; all others hold plain values.
_SCHEMAS: Final = frozenset(
    {
        *("items", "prefixItems", "contains", "additionalProperties", "propertyNames", "not"),
        *("allOf", "anyOf", "oneOf", "if", "then", "else"),
        *("unevaluatedItems", "unevaluatedProperties", "additionalItems"),
    }
)


def shortened(entry: Mapping[str, Any], step: int) -> dict[str, Any]:
    """A found tool as `step` of the shortening leaves it: 0 whole, `LAST_STEP` without a schema."""
    schema = entry["input_schema"]
    short = dict(entry)
    if step >= 3:
        short["description"] = _cut(entry["description"], LONGEST_DESCRIPTION)
    if step == 4:
        short["input_schema"] = _outline(schema)
    elif step in {1, 2, 3}:
        # Hints of the outer parameters stay whole, then are cut, then go.
        longest = {1: None, 2: LONGEST_HINT, 3: 0}[step]
        short["input_schema"] = _plain(schema, outer=longest)
    if step == LAST_STEP:
        del short["input_schema"]
    if short.get("input_schema") != schema:
        short["schema_shortened"] = True
    return short


def _plain(schema: Any, *, outer: int | None) -> Any:
    """`schema` without texts, but for the descriptions of the outer parameters up to `outer`."""
    bare = _bare(schema)
    properties = schema.get("properties")
    if outer == 0 or not isinstance(properties, Mapping):
        return bare
    for name, about in properties.items():
        text = about.get("description") if isinstance(about, Mapping) else None
        if isinstance(text, str):
            kept = text if outer is None else _cut(text, outer)
            bare["properties"][name] = {**bare["properties"][name], "description": kept}
    return bare


def _bare(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    bare: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, Mapping):
            bare[key] = {name: _bare(item) for name, item in value.items()}
        elif key in _SCHEMAS:
            bare[key] = _bare(value)
        elif key not in _TEXTS:
            bare[key] = value
    return bare


def _outline(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Names and types of the outer parameters, and which are required."""
    properties = schema.get("properties")
    names = properties if isinstance(properties, Mapping) else {}
    outline: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {"type": about["type"]} if isinstance(about, Mapping) and "type" in about else {}
            for name, about in names.items()
        },
    }
    if schema.get("required"):
        outline["required"] = schema["required"]
    return outline


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
