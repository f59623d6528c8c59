"""Where schemas stand inside schemas, and walks over them that leave plain values alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

# Schemas that judge the same value as the schema around them ...
IN_PLACE_ONE: Final = ("not", "if", "then", "else")
IN_PLACE_LISTED: Final = ("allOf", "anyOf", "oneOf")
IN_PLACE_NAMED: Final = ("dependentSchemas",)
# ... and all of them.
ONE: Final = (
    *("items", "additionalProperties", "contains", "propertyNames", *IN_PLACE_ONE),
    *("unevaluatedProperties", "unevaluatedItems"),
)
LISTED: Final = (*IN_PLACE_LISTED, "prefixItems")
NAMED: Final = ("properties", "patternProperties", *IN_PLACE_NAMED)
DEFINITIONS: Final = "#/$defs/"
_ALL: Final = (frozenset(ONE), frozenset(LISTED), frozenset(NAMED))

Schema = Mapping[str, Any]


def parts(schema: Mapping[str, Any], *, in_place: bool = False) -> Iterator[Any]:
    """The schemas directly inside `schema`; only those that judge the same value if asked."""
    one, listed, named = (IN_PLACE_ONE, IN_PLACE_LISTED, IN_PLACE_NAMED) if in_place else _ALL
    for key, value in schema.items():
        if key in one:
            yield value
        elif key in listed:
            yield from value
        elif key in named:
            yield from value.values()


def references(schema: Any, *, in_place: bool = False) -> list[str]:
    """The names of the definitions that `schema` refers to, each as often as it does."""
    found: list[str] = []
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            if isinstance(reference := current.get("$ref"), str):
                found.append(reference.removeprefix(DEFINITIONS))
            waiting.extend(parts(current, in_place=in_place))
    return found


def rewritten(schema: Any, change: Callable[[dict[str, Any]], Any]) -> Any:
    """A copy of `schema` in which `change` was applied to every schema, innermost first."""
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ONE:
            copy[key] = rewritten(value, change)
        elif key in LISTED:
            copy[key] = [rewritten(item, change) for item in value]
        elif key in NAMED:
            copy[key] = {name: rewritten(item, change) for name, item in value.items()}
        else:
            copy[key] = value
    return change(copy)
