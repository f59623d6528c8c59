"""The fields of an object schema, where they can stand side by side as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tools.openapi.definitions import Definitions

_ANNOTATIONS: Final = frozenset({"description", "examples", "deprecated"})
_UNDERSTOOD: Final = _ANNOTATIONS | {
    *("type", "properties", "required", "additionalProperties", "unevaluatedProperties", "allOf")
}


@dataclass(slots=True)
class Fields:
    """Fields by name. `extra` says that others may be sent as well."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    extra: bool = False


def fields_of(schema: Any, definitions: Definitions) -> Fields | None:
    """The fields of the cleaned `schema`; None when it says more than which fields there are."""
    found = Fields()
    if not _collect(schema, definitions, found, depth=5):
        return None
    return found if set(found.required) <= set(found.properties) else None


def _collect(schema: Any, definitions: Definitions, found: Fields, depth: int) -> bool:
    schema = definitions.behind(schema)
    if not isinstance(schema, Mapping) or depth == 0 or set(schema) - _UNDERSTOOD:
        return False
    if schema.get("type", "object") != "object":
        return False
    properties = schema.get("properties", {})
    if set(properties) & set(found.properties):
        return False
    found.properties.update(properties)
    found.required.update(dict.fromkeys(schema.get("required", ())))
    extra = schema.get("additionalProperties", False)
    found.extra = found.extra or extra not in (False, {"not": {}})
    return all(
        _collect(member, definitions, found, depth - 1) for member in schema.get("allOf", ())
    )
