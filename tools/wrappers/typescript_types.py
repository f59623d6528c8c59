"""Types of TypeScript for values that a JSON Schema describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from tools.wrappers.schemas import Kind, Schema, Steps, read

DEEPEST: Final = 6
_PLAIN: Final[Mapping[Kind, str]] = {
    Kind.STRING: "string",
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.ARRAY: "unknown[]",
    Kind.OBJECT: "Record<string, unknown>",
    Kind.ANY: "unknown",
}


def typescript_type(schema: object, root: Schema) -> str:
    """The type of a value."""
    return _type(schema, root, Steps(), 0)


def typescript_types(root: Schema) -> dict[str, str]:
    """The types of all arguments of a tool, by name."""
    steps = Steps()
    return {key: _type(one, root, steps, 0) for key, one in root["properties"].items()}


def _type(schema: object, root: Schema, steps: Steps, depth: int) -> str:
    reading = read(schema, root)
    depth = depth if steps.take() else DEEPEST
    if reading.branches and depth < DEEPEST:
        found = [_type(one, root, steps, depth + 1) for one in reading.branches]
    elif reading.choices:
        found = [json.dumps(one) for one in reading.choices]
    else:
        found = [_of_kind(kind, reading.schema, root, steps, depth) for kind in reading.kinds]
    if "unknown" in found:
        return "unknown"
    return " | ".join(dict.fromkeys([*found, *(["null"] if reading.nullable else [])]))


def _of_kind(kind: Kind, schema: Schema, root: Schema, steps: Steps, depth: int) -> str:
    if depth >= DEEPEST:
        return _PLAIN[kind]
    if kind is Kind.ARRAY and isinstance(schema.get("items"), Mapping):
        return f"Array<{_type(schema['items'], root, steps, depth + 1)}>"
    if kind is not Kind.OBJECT:
        return _PLAIN[kind]
    more, properties = schema.get("additionalProperties"), schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        return (
            _PLAIN[kind]
            if more is True or isinstance(more, Mapping)
            else _literal(schema, root, steps, depth)
        )
    if isinstance(more, Mapping):
        return f"Record<string, {_type(more, root, steps, depth + 1)}>"
    return _PLAIN[kind]


def _literal(schema: Schema, root: Schema, steps: Steps, depth: int) -> str:
    required: Any = schema.get("required")
    needed = required if isinstance(required, list) else []
    fields = [
        f"{json.dumps(key)}{'' if key in needed else '?'}: {_type(one, root, steps, depth + 1)}"
        for key, one in schema["properties"].items()
    ]
    return "{ " + "; ".join(fields) + " }"
