"""The arguments of a tool as wrappers take them: by position, by option, by keyword."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.wrappers.naming import RESERVED, Names, identifier, kebab
from tools.wrappers.quoting import one_line
from tools.wrappers.schemas import Kind, Reading, read
from tools.wrappers.tool_list import ListedTool

# Options that wrappers have themselves, and those Python's argparse would have.
OWN_OPTIONS: Final = ("help", "h", "json", "retry", "service-url", "timeout")
# What methods of the clients use inside; parameters must not hide it.
OWN_NAMES: Final = (*RESERVED, "arguments_", "UNSET")
LONGEST_EXAMPLE: Final = 60
_PLACEHOLDERS: Final[Mapping[Kind, Any]] = {
    Kind.STRING: "text",
    Kind.INTEGER: 1,
    Kind.NUMBER: 1.5,
    Kind.BOOLEAN: True,
    Kind.ARRAY: [],
    Kind.OBJECT: {},
    Kind.ANY: "text",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `key` is what the service calls it; `name` and `option` are safe in code.

    `fallback` is what the service takes when it is left out, as JSON.
    """

    key: str
    name: str
    option: str
    required: bool
    description: str
    reading: Reading
    item_kind: Kind = Kind.ANY

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
        parts = [one_line(self.description)]
        if self.choices:
            listed = ", ".join(one_line(str(one)) for one in self.choices)
            parts.append(f"one of: {one_line(listed, 200)}")
        parts += [
            f"{word} {self.schema[word]}" for word in ("minimum", "maximum") if self._has(word)
        ]
        if self.fallback:
            parts.append(f"default {self.fallback}")
        return "; ".join(part for part in parts if part)

    def _has(self, word: str) -> bool:
        return isinstance(self.schema.get(word), int | float)

    @property
    def example(self) -> str:
        """A value as it is written on a command line; harmless wherever it is shown."""
        value = _example(self.reading)
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
            )
        )
    return tuple(found)


def _example(reading: Reading) -> Any:
    schema = reading.schema
    listed = schema.get("examples")
    wanted = [
        *reading.choices,
        schema.get("default"),
        *(listed if isinstance(listed, list) else []),
    ]
    for value in wanted:
        shown = value if isinstance(value, str) else json.dumps(value)
        if value is None or isinstance(value, dict | list) or not 0 < len(shown) <= LONGEST_EXAMPLE:
            continue
        if shown.isprintable() and not set(shown) & set("`$\\<>"):
            return value
    minimum = schema.get("minimum")
    if reading.kind in {Kind.INTEGER, Kind.NUMBER} and isinstance(minimum, int | float):
        return minimum
    return _PLACEHOLDERS[reading.kind]
