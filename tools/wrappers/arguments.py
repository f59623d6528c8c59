"""The arguments of a tool as wrappers take them: by position, by option, by keyword."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.schemas.example import example_of
from tools.wrappers.naming import RESERVED, Names, identifier, kebab
from tools.wrappers.quoting import one_line
from tools.wrappers.schemas import Kind, Reading, read
from tools.wrappers.tool_list import ListedTool

# Options that wrappers have themselves, and those Python's argparse would have.
OWN_OPTIONS: Final = (
    *("arguments-from", "help", "h", "json", "longest-pause", "retry", "service-url", "timeout"),
)
# What methods of the clients use inside; parameters must not hide it.
OWN_NAMES: Final = (*RESERVED, "arguments_", "UNSET")
LONGEST_EXAMPLE: Final = 60
# jq before 1.7 rounds longer ones, and scripts refuse to send those.
MOST_DIGITS: Final = 15
# Values that are made for one tool: each may have a thousand parts.
MOST_MADE: Final = 20
_PLACEHOLDERS: Final[Mapping[Kind, Any]] = {
    Kind.STRING: "text",
    Kind.INTEGER: 1,
    Kind.NUMBER: 1.5,
    Kind.BOOLEAN: True,
    Kind.ARRAY: [],
    Kind.OBJECT: {},
    Kind.ANY: "text",
}
# Whose examples can be shown on one line.
_SCALARS: Final[Mapping[Kind, tuple[type, ...]]] = {
    Kind.STRING: (str,),
    Kind.INTEGER: (int,),
    Kind.NUMBER: (int, float),
    Kind.ANY: (str, int, float),
}
# How the bounds of a number are told.
_BOUNDS: Final = {
    "minimum": "minimum",
    "exclusiveMinimum": "more than",
    "maximum": "maximum",
    "exclusiveMaximum": "less than",
}
# From each bound of a number to one that is allowed.
_INWARDS: Final = {"minimum": 0, "exclusiveMinimum": 1, "maximum": 0, "exclusiveMaximum": -1}
_KEPT: Final = {
    "minimum": operator.ge,
    "exclusiveMinimum": operator.gt,
    "maximum": operator.le,
    "exclusiveMaximum": operator.lt,
}
# What says that an empty list or object will not do.
_FILLED: Final = {Kind.ARRAY: "minItems", Kind.OBJECT: "required"}
# What would stand for the arguments as a whole, rather than for one of them.
_OF_ALL: Final = ("default", "const", "examples", "enum", "anyOf", "oneOf", "allOf", "$ref")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `key` is what the service calls it; `name` and `option` are safe in code.

    `fallback` is what the service takes when it is left out, as JSON; `made` a value that fits its schema
    as far as one can be made, where one is needed.
    """

    key: str
    name: str
    option: str
    required: bool
    description: str
    reading: Reading
    item_kind: Kind = Kind.ANY
    made: Any = None

    @property
    def kind(self) -> Kind:
        return self.reading.kind

    @property
    def nullable(self) -> bool:
        return self.reading.nullable

    @property
    def schema(self) -> Mapping[str, Any]:
        return self.reading.schema

    @property
    def choices(self) -> tuple[Any, ...]:
        return self.reading.choices

    @property
    def fallback(self) -> str:
        if "default" not in self.schema:
            return ""
        return one_line(json.dumps(self.schema["default"], ensure_ascii=False), LONGEST_EXAMPLE)

    @property
    def hint(self) -> str:
        """What a person is told of it, on one line."""
        parts = []
        if self.choices:
            listed = ", ".join(one_line(str(one)) for one in self.choices)
            parts.append(f"one of: {one_line(listed, 200)}")
        parts += [
            f"{told} {self.schema[word]}"
            for word, told in _BOUNDS.items()
            if _is_of(self.schema.get(word), Kind.NUMBER)
        ]
        if self.fallback:
            parts.append(f"default {self.fallback}")
        told = one_line(self.description)
        if told and parts:
            told = f"{told.removesuffix('.')}; "
        return told + "; ".join(parts)

    @property
    def example(self) -> str:
        """A value as it is written on a command line; harmless wherever it is shown."""
        value = _example(self.reading, self.made)
        return value if isinstance(value, str) else json.dumps(value)


def arguments_of(tool: ListedTool) -> tuple[Argument, ...]:
    """The arguments in the order of the schema."""
    names, options = Names(OWN_NAMES), Names(OWN_OPTIONS)
    found = []
    for number, (key, schema) in enumerate(tool.properties.items(), 1):
        reading = read(schema, tool.input_schema)
        name = identifier(key, f"argument_{number}")
        option = kebab(key, f"argument-{number}")
        told = reading.schema.get("description", reading.schema.get("title"))
        items = read(reading.schema.get("items"), tool.input_schema)
        found.append(
            Argument(
                key=key,
                name=names.free(name, f"{name}_"),
                option=options.free(option, f"arg-{option}"),
                required=key in tool.required,
                description=told if isinstance(told, str) else "",
                reading=reading,
                item_kind=items.kind,
                # Examples show required ones alone.
                made=_made(tool, key) if key in tool.required and number <= MOST_MADE else None,
            )
        )
    return tuple(found)


def _made(tool: ListedTool, key: str) -> Any:
    whole = {name: one for name, one in tool.input_schema.items() if name not in _OF_ALL}
    try:
        return example_of({**whole, "type": "object", "required": [key]})[key]
    # Schemas of strangers: limits that are no numbers, lists that are none.
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


def _example(reading: Reading, made: Any) -> Any:
    schema, kind = reading.schema, reading.kind
    if kind in _FILLED:
        fits = isinstance(made, dict if kind is Kind.OBJECT else list)
        useful = fits and bool(schema.get(_FILLED[kind])) and _is_harmless(json.dumps(made))
        return made if useful else _PLACEHOLDERS[kind]
    listed = schema.get("examples")
    wanted = [
        *reading.choices,
        schema.get("default"),
        *(listed if isinstance(listed, list) else []),
        *_bounds(schema, kind),
        *([] if kind is Kind.BOOLEAN else [made]),
    ]
    good = (one for one in wanted if _is_of(one, kind) and _is_harmless(one))
    return next((one for one in good if _is_allowed(one, schema)), _PLACEHOLDERS[kind])


def _bounds(schema: Mapping[str, Any], kind: Kind) -> Iterator[float]:
    """Numbers at the ends of what `schema` allows, inside them; whole ones where it asks for those."""
    for word, inwards in _INWARDS.items():
        bound = schema.get(word)
        # To older drafts an exclusive bound is a yes or no.
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            continue
        if kind is Kind.INTEGER:
            bound = math.ceil(bound) if "inimum" in word else math.floor(bound)
        yield bound + inwards


def _is_of(value: object, kind: Kind) -> bool:
    """Whether scripts take `value` for this kind: a default may be of any."""
    if isinstance(value, bool):
        return kind in {Kind.BOOLEAN, Kind.ANY}
    return isinstance(value, _SCALARS.get(kind, ()))


def _is_harmless(value: str | float) -> bool:
    shown = value if isinstance(value, str) else json.dumps(value)
    fits = 0 < len(shown) <= LONGEST_EXAMPLE
    return fits and shown.isprintable() and not set(shown) & set("`$\\<>")


def _is_allowed(value: str | float, schema: Mapping[str, Any]) -> bool:
    """Whether a number is within its bounds, and one that every jq keeps."""
    if isinstance(value, str):
        return True
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return False
    bounds = [word for word in _KEPT if _is_of(schema.get(word), Kind.NUMBER)]
    return all(_KEPT[word](value, schema[word]) for word in bounds)
