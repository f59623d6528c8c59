"""JSON Schemas read as far as a wrapper needs: what kind of value, one of which, may it be null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

Schema = Mapping[str, Any]
MOST_STEPS: Final = 20
MOST_CHOICES: Final = 50
# What a tool's own schema needs is far less; one that refers to itself in several places has no end.
MOST_TYPES: Final = 500


class Kind(StrEnum):
    """What a value is, and so how it is written on a command line."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"
    ANY = "any"


_KINDS: Final = {kind.value: kind for kind in Kind if kind is not Kind.ANY}


@dataclass(frozen=True, slots=True)
class Reading:
    """A schema without its references. `branches` are the ways its value may be, if several.

    `choices` are all values there are; empty when they are not listed.
    """

    schema: Schema
    kinds: tuple[Kind, ...]
    nullable: bool
    branches: tuple[Schema, ...] = ()
    choices: tuple[Any, ...] = ()

    @property
    def kind(self) -> Kind:
        return self.kinds[0] if len(self.kinds) == 1 else Kind.ANY


@dataclass(slots=True)
class Steps:
    """How many more types of one tool are looked into."""

    left: int = MOST_TYPES

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def read(schema: object, root: Schema, depth: int = 0) -> Reading:
    """What `schema` asks for; `root` has the definitions it may refer to."""
    if depth > MOST_STEPS:
        return Reading({}, (Kind.ANY,), nullable=False)
    found = resolved(schema, root)
    branches = [one for word in ("anyOf", "oneOf") for one in _sequence(found.get(word))]
    if branches:
        return _of_branches(found, branches, root, depth)
    choices = found["enum"] if "enum" in found else [found["const"]] if "const" in found else ()
    if isinstance(choices, list) and 0 < len(choices) <= MOST_CHOICES:
        return _of_choices(found, choices)
    return _of_types(found)


def resolved(schema: object, root: Schema) -> Schema:
    """`schema`, or what it refers to inside `root`; nothing is fetched."""
    for _ in range(MOST_STEPS):
        if not isinstance(schema, Mapping):
            return {}
        if "$ref" not in schema:
            several = _sequence(schema.get("allOf"))
            if len(several) != 1 or "type" in schema:
                return schema
            schema = {**{k: v for k, v in schema.items() if k != "allOf"}, **_mapping(several[0])}
            continue
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**_referred(schema["$ref"], root), **beside}
    return {}


def _referred(reference: object, root: Schema) -> Schema:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return {}
    found: Any = root
    for part in reference[2:].split("/"):
        step = part.replace("~1", "/").replace("~0", "~")
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _of_branches(schema: Schema, branches: Sequence[object], root: Schema, depth: int) -> Reading:
    read_ones = [(resolved(one, root), _of_types(resolved(one, root))) for one in branches]
    real = [(one, reading) for one, reading in read_ones if one.get("type") != "null"]
    nullable = len(real) < len(read_ones) or any(reading.nullable for _, reading in real)
    if len(real) == 1:
        beside = {k: v for k, v in schema.items() if k not in {"anyOf", "oneOf"}}
        only = read({**beside, **real[0][0]}, root, depth + 1)
        return Reading(
            only.schema, only.kinds, nullable or only.nullable, only.branches, only.choices
        )
    kinds = tuple(dict.fromkeys(kind for _, reading in real for kind in reading.kinds))
    return Reading(schema, kinds or (Kind.ANY,), nullable, tuple(one for one, _ in real))


def _of_choices(schema: Schema, choices: Sequence[Any]) -> Reading:
    real = tuple(one for one in choices if one is not None)
    kinds = tuple(dict.fromkeys(_kind_of(one) for one in real)) or (Kind.ANY,)
    simple = all(isinstance(one, str | int) for one in real)
    nullable = len(real) < len(choices)
    return Reading(schema, kinds, nullable, choices=real if simple else ())


def _of_types(schema: Schema) -> Reading:
    given = schema.get("type")
    names = given if isinstance(given, list) else [given] if isinstance(given, str) else []
    known = [_KINDS[name] for name in names if isinstance(name, str) and name in _KINDS]
    nullable = "null" in names or schema.get("nullable") is True
    if not known and "properties" in schema:
        known = [Kind.OBJECT]
    return Reading(schema, tuple(dict.fromkeys(known)) or (Kind.ANY,), nullable)


def _kind_of(value: object) -> Kind:
    if isinstance(value, bool):
        return Kind.BOOLEAN
    kinds = {str: Kind.STRING, int: Kind.INTEGER, float: Kind.NUMBER, list: Kind.ARRAY}
    return kinds.get(type(value), Kind.OBJECT)


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _mapping(value: object) -> Schema:
    return value if isinstance(value, Mapping) else {}
