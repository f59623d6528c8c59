"""The keywords of JSON Schema that are kept, and what each may hold. Anything else is left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from tools.openapi.texts import shortened
from tools.schemas import SchemaFault, compile_schema

LONGEST_DESCRIPTION: Final = 500
LONGEST_EXAMPLE: Final = 200
MOST_EXAMPLES: Final = 2
TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
# Names that are no types of JSON Schema, as documents use them; the second value is a format.
MISNAMED: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("int", "int32", "int64", "long"), ("integer", "")),
    **dict.fromkeys(("float", "double", "decimal"), ("number", "")),
    **dict.fromkeys(("bool",), ("boolean", "")),
    **dict.fromkeys(("str", "text", "char", "byte"), ("string", "")),
    **{name: ("string", name) for name in ("date", "date-time", "uuid", "uri", "email")},
    **dict.fromkeys(("datetime", "dateTime"), ("string", "date-time")),
    **dict.fromkeys(("file", "binary"), ("string", "binary")),
    **dict.fromkeys(("map", "dict"), ("object", "")),
    **dict.fromkeys(("list",), ("array", "")),
}


class Wrong(Exception):
    """A keyword holds what it may not hold."""


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Wrong
    return value


def _positive(value: Any) -> Any:
    if _number(value) <= 0:
        raise Wrong
    return value


def _count(value: Any) -> int:
    if _number(value) < 0 or value != int(value):
        raise Wrong
    return int(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Wrong
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong
    return value


def _description(value: Any) -> str:
    return shortened(_text(value), LONGEST_DESCRIPTION)


@lru_cache(maxsize=4096)
def _is_pattern(value: str) -> bool:
    try:
        compile_schema({"pattern": value})
    except SchemaFault:
        return False
    return True


def pattern(value: Any) -> str:
    """A regular expression that the validator can run."""
    if not _is_pattern(_text(value)):
        raise Wrong
    return str(value)


def _values(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise Wrong
    unique: dict[bytes, Any] = {}
    for item in value:
        unique.setdefault(orjson.dumps(item), item)
    return list(unique.values())


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Wrong
    return list(dict.fromkeys(value))


def _names_by_name(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, Mapping):
        raise Wrong
    return {key: _names(names) for key, names in value.items()}


def examples(value: Any) -> list[Any]:
    """The first short ones of a list of examples."""
    if not isinstance(value, list):
        raise Wrong
    short = [item for item in value if len(orjson.dumps(item)) <= LONGEST_EXAMPLE]
    if not short:
        raise Wrong
    return short[:MOST_EXAMPLES]


def anything(value: Any) -> Any:
    """As it is."""
    return value


PLAIN: Final[Mapping[str, Callable[[Any], Any]]] = {
    "description": _description,
    "deprecated": _flag,
    "format": _text,
    "enum": _values,
    "const": anything,
    "pattern": pattern,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    "multipleOf": _positive,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _count),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _count),
    "uniqueItems": _flag,
    "required": _names,
    "dependentRequired": _names_by_name,
    "contentEncoding": _text,
    "contentMediaType": _text,
    "examples": examples,
}
# Left out without a word when they hold something else: they judge no value.
UNIMPORTANT: Final = frozenset({"description", "deprecated", "examples"})
