"""A schema as rows of a table that people read: one for each argument, those inside indented.

Any schema is read, sound or not: what other servers wrote is shown before anybody has judged it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from tools.schemas.defaults import resolved
from tools.schemas.wording import LONGEST_SHOWN_VALUE

MOST_ROWS: Final = 300
MOST_STEPS: Final = 5_000
DEEPEST: Final = 8
MOST_CHOICES: Final = 20
LONGEST_TEXT: Final = 2_000
_CHOICES: Final = (("anyOf", "any of these"), ("oneOf", "exactly one of these"))
_PARTS: Final = (
    *("properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "enum", "description"),
)
_PLAIN: Final = {
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "null": "nothing",
}
# From what the schema says to what people read; {} is the value.
_LIMITS: Final = (
    ("const", "exactly {}"),
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "above {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "below {}"),
    ("multipleOf", "a multiple of {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("pattern", "matches {}"),
    ("format", "as {}"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("minProperties", "at least {} keys"),
    ("maxProperties", "at most {} keys"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One argument, or one part of it. `default` is empty when there is none."""

    depth: int
    name: str
    type: str
    required: bool = False
    default: str = ""
    limits: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows, and how the whole is to be read."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    cut: bool


def table_of(schema: Any) -> Table:
    """The rows of `schema`."""
    reader = _Reader(schema)
    rows = tuple(islice(reader.inside(schema, 0, ()), MOST_ROWS + 1))
    cut = len(rows) > MOST_ROWS or reader.steps > MOST_STEPS
    return Table(rows[:MOST_ROWS], tuple(_notes(schema)), cut)


class _Reader:
    """Walks one schema. It counts its steps: references can make little text a very large schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self.steps = 0

    def inside(self, definition: Any, depth: int, seen: tuple[str, ...]) -> Iterator[Row]:
        """The rows of what is in `definition`; `seen` are the references that led here."""
        whole = self._whole(definition)
        if not whole or depth > DEEPEST:
            return
        reference = definition.get("$ref")
        if isinstance(reference, str):
            if reference in seen:
                yield Row(depth, "…", "again as above")
                return
            seen = (*seen, reference)
        yield from self._properties(whole, depth, seen)
        yield from self._rest(whole, depth, seen)
        for part in _listed(whole.get("allOf")):
            yield from self.inside(part, depth, seen)
        for word, _ in _CHOICES:
            yield from self._choices(_listed(whole.get(word)), depth, seen)

    def _whole(self, definition: Any) -> Mapping[str, Any]:
        """`definition` with what it refers to; nothing when it is none, or enough was read."""
        self.steps += 1
        if self.steps > MOST_STEPS or not isinstance(definition, Mapping):
            return {}
        return resolved(self._root, definition)

    def _properties(
        self, whole: Mapping[str, Any], depth: int, seen: tuple[str, ...]
    ) -> Iterator[Row]:
        needed = {name for name in _listed(whole.get("required")) if isinstance(name, str)}
        properties = whole.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            flagged = isinstance(inner, Mapping) and inner.get("required") is True
            yield self._row(depth, str(name), inner, required=name in needed or flagged)
            yield from self.inside(inner, depth + 1, seen)

    def _rest(self, whole: Mapping[str, Any], depth: int, seen: tuple[str, ...]) -> Iterator[Row]:
        """What lists and objects with any keys hold, where that has parts of its own."""
        items, others = whole.get("items"), whole.get("additionalProperties")
        parts = [
            (f"item {number + 1}", inner)
            for number, inner in enumerate(_listed(whole.get("prefixItems")) or _listed(items))
        ]
        if self._has_parts(items):
            parts.append(("each item", items))
        if isinstance(others, Mapping) and others:
            parts.append(("any other key", others))
        for name, inner in parts:
            yield self._row(depth, name, inner)
            yield from self.inside(inner, depth + 1, seen)

    def _choices(self, choices: list[Any], depth: int, seen: tuple[str, ...]) -> Iterator[Row]:
        """A row for each choice, if one of them is more than a word."""
        if not any(self._has_parts(one) for one in choices):
            return
        for number, one in enumerate(choices):
            yield self._row(depth, "either" if number == 0 else "or", one)
            yield from self.inside(one, depth + 1, seen)

    def _has_parts(self, definition: Any) -> bool:
        whole = self._whole(definition)
        return any(whole.get(word) for word in _PARTS)

    def _row(self, depth: int, name: str, definition: Any, *, required: bool = False) -> Row:
        whole = self._whole(definition)
        told = whole.get("description") or whole.get("title") or ""
        return Row(
            depth=depth,
            name=shortened(name),
            type=self._kind(definition, 0),
            required=required,
            default=written(whole["default"]) if "default" in whole else "",
            limits=(*_limits(whole), *self._limits_of_choices(whole)),
            description=shortened(str(told), LONGEST_TEXT),
        )

    def _limits_of_choices(self, whole: Mapping[str, Any]) -> Iterator[str]:
        """Of choices that get no rows of their own."""
        choices = [one for word, _ in _CHOICES for one in _listed(whole.get(word))]
        if any(self._has_parts(one) for one in choices):
            return
        for one in choices[:MOST_CHOICES]:
            for limit in _limits(self._whole(one)):
                yield f"{self._kind(one, 0)}: {limit}"

    def _kind(self, definition: Any, depth: int) -> str:
        """What kind of value, in words: text, whole number, list of numbers, text or nothing."""
        if definition is False:
            return "never"
        whole = self._whole(definition)
        if not whole or depth > DEEPEST:
            return "anything"
        for word, _ in _CHOICES:
            if choices := _listed(whole.get(word)):
                kinds = (self._kind(one, depth + 1) for one in choices[:MOST_CHOICES])
                return " or ".join(dict.fromkeys(kinds))
        types = whole.get("type")
        if isinstance(types, list):
            kinds = (self._of_type(one, whole, depth) for one in types[:MOST_CHOICES])
            return " or ".join(dict.fromkeys(kinds))
        return self._of_type(_guess(whole) if types is None else types, whole, depth)

    def _of_type(self, kind: Any, whole: Mapping[str, Any], depth: int) -> str:
        if kind == "array":
            inner = self._kind(whole.get("items", True), depth + 1)
            return f"list of {inner}" if inner != "anything" else "list"
        return _PLAIN.get(str(kind), shortened(str(kind)))


def _guess(whole: Mapping[str, Any]) -> str:
    if "properties" in whole:
        return "object"
    if "items" in whole:
        return "array"
    return "a choice" if "enum" in whole else "anything"


def _limits(whole: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(whole.get("enum"), list):
        listed = whole["enum"]
        more = f" and {len(listed) - MOST_CHOICES} more" if len(listed) > MOST_CHOICES else ""
        yield f"one of {', '.join(written(one) for one in listed[:MOST_CHOICES])}{more}"
    for word, told in _LIMITS:
        if word in whole:
            value = whole[word]
            plain = value if isinstance(value, str) and word != "const" else written(value)
            text = told.format(plain)
            yield text.removesuffix("s") if value == 1 else text
    if whole.get("uniqueItems") is True:
        yield "no item twice"
    if whole.get("additionalProperties") is False:
        yield "no other keys"


def _notes(schema: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if schema.get("additionalProperties") is False:
        yield "Nothing else is taken."
    for word, lead in _CHOICES:
        if schema.get(word):
            yield f"Must fit {lead}."
    if any(word in schema for word in ("if", "not", "dependentRequired", "dependencies")):
        yield "There are conditions besides; they are in the JSON below."


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def written(value: Any) -> str:
    """`value` as JSON, not too long."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = "a value that cannot be shown"
    return shortened(text)


def shortened(text: str, longest: int = LONGEST_SHOWN_VALUE) -> str:
    """`text`, or its beginning."""
    return text if len(text) <= longest else text[:longest] + "…"
