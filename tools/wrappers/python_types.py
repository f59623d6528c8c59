"""Types of Python for values that a JSON Schema describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tools.wrappers.naming import Names, class_name
from tools.wrappers.schemas import Kind, Schema, Steps, read

DEEPEST: Final = 6
LARGEST_LITERAL: Final = 2**63 - 1
_PLAIN: Final[Mapping[Kind, str]] = {
    Kind.STRING: "str",
    Kind.INTEGER: "int",
    Kind.NUMBER: "float",
    Kind.BOOLEAN: "bool",
    Kind.ARRAY: "list[Any]",
    Kind.OBJECT: "dict[str, Any]",
    Kind.ANY: "Any",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A TypedDict: its keys as literals of Python, with the types of their values."""

    name: str
    fields: tuple[tuple[str, str], ...]


@dataclass
class PythonTypes:
    """The types that one module needs. `shapes` are in an order in which each knows those it uses."""

    names: Names
    shapes: list[Shape] = field(default_factory=list)
    # A new one for each tool, so that none takes what another needs.
    steps: Steps = field(default_factory=Steps)

    def of(self, schema: object, root: Schema, hint: str, depth: int = 0) -> str:
        """The type of a value; `hint` names what it is, should it need a name."""
        reading = read(schema, root)
        depth = depth if self.steps.take() else DEEPEST
        if reading.branches and depth < DEEPEST:
            found = [self.of(one, root, hint, depth + 1) for one in reading.branches]
        elif reading.choices and all(map(_is_literal, reading.choices)):
            found = [f"Literal[{', '.join(repr(one) for one in reading.choices)}]"]
        else:
            found = [
                self._of_kind(kind, reading.schema, root, hint, depth) for kind in reading.kinds
            ]
        if "Any" in found:
            return "Any"
        return " | ".join(dict.fromkeys([*found, *(["None"] if reading.nullable else [])]))

    def _of_kind(self, kind: Kind, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        if depth >= DEEPEST:
            return _PLAIN[kind]
        if kind is Kind.ARRAY and isinstance(schema.get("items"), Mapping):
            return f"list[{self.of(schema['items'], root, f'{hint} item', depth + 1)}]"
        if kind is Kind.OBJECT:
            return self._of_object(schema, root, hint, depth)
        return _PLAIN[kind]

    def _of_object(self, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        more, properties = schema.get("additionalProperties"), schema.get("properties")
        # What may have other keys besides cannot be told key by key.
        is_open = more is True or isinstance(more, Mapping)
        if isinstance(properties, Mapping) and properties and not is_open:
            return self._shape(schema, root, hint, depth + 1)
        if isinstance(more, Mapping) and not properties:
            return f"dict[str, {self.of(more, root, f'{hint} value', depth + 1)}]"
        return _PLAIN[Kind.OBJECT]

    def _shape(self, schema: Schema, root: Schema, hint: str, depth: int) -> str:
        required = schema.get("required")
        needed = required if isinstance(required, list) else []
        fields = []
        for key, one in schema["properties"].items():
            written = self.of(one, root, f"{hint} {key}", depth)
            fields.append((repr(key), written if key in needed else f"NotRequired[{written}]"))
        return self.shape(class_name(hint, "Value"), fields)

    def shape(self, name: str, fields: Iterable[tuple[str, str]]) -> str:
        """A TypedDict by this name or one like it; what it is called."""
        made = Shape(self.names.free(name, f"{name}_"), tuple(fields))
        self.shapes.append(made)
        return made.name


def _is_literal(choice: object) -> bool:
    """Whether type checkers take it in `Literal`: mypy knows no whole numbers of more than 64 bits."""
    return not isinstance(choice, int) or abs(choice) <= LARGEST_LITERAL


def python_type(schema: Any) -> str:
    """The type of a value whose parts are not looked at, for templates of one's own."""
    reading = read(schema, schema if isinstance(schema, Mapping) else {})
    plain = " | ".join(dict.fromkeys(_PLAIN[kind] for kind in reading.kinds))
    return f"{plain} | None" if reading.nullable and plain != "Any" else plain
