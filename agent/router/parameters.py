"""The parameters of a tool, as its schema tells them. Schemas are strangers' work: nothing is relied on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agent.router.thesaurus import meanings
from agent.router.words import name_parts, stem, stems

MOST_PARAMETERS: Final = 60
LONGEST_TEXT: Final = 2000
# Patterns with these can take for ever on a text made for it.
_INVOLVED: Final = re.compile(r"\)[*+{?]|\(\?|\\\d|\\[kg]")
_REPEATS: Final = re.compile(r"[*+?]|\{\d*,\d*\}")
MOST_REPEATS: Final = 2
SHORT_SCALE: Final = 10
_DATE_WORDS: Final = frozenset({"date", "day", "deadline"})
ID_WORDS: Final = frozenset({"id", "number", "code", "key", "identifier", "no"})

_FORMS: Final = {
    "uuid": re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "uri": re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+"),
}


class Type(StrEnum):
    """How a value is looked for."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    CHOICES = "choices"
    DATE = "date"
    TEXT = "text"
    TEXTS = "texts"
    OBJECT = "object"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `words` are the stems of its name, `about` those of its description."""

    name: str
    type: Type
    required: bool
    words: tuple[str, ...]
    about: frozenset[str]
    description: str
    schema: Mapping[str, Any]
    choices: tuple[str, ...] = ()
    inner: tuple[Parameter, ...] = ()

    @property
    def meanings(self) -> frozenset[str]:
        """What the words of its name mean."""
        return frozenset(meaning for word in self.words for meaning in meanings(word))

    @property
    def is_id(self) -> bool:
        """Whether it names one thing."""
        return bool(ID_WORDS & set(self.words)) or bool(ID_WORDS & self.about and self.examples)

    @property
    def examples(self) -> tuple[str, ...]:
        found = self.schema.get("examples")
        return tuple(str(one) for one in found[:10]) if isinstance(found, list) else ()

    def allows(self, value: float | str) -> bool:
        """Whether a value is inside the limits of its schema."""
        if isinstance(value, str):
            return self._allows_text(value)
        least, most = _number(self.schema, "minimum"), _number(self.schema, "maximum")
        above, below = (
            _number(self.schema, "exclusiveMinimum"),
            _number(self.schema, "exclusiveMaximum"),
        )
        return (
            (least is None or value >= least)
            and (most is None or value <= most)
            and (above is None or value > above)
            and (below is None or value < below)
        )

    def _allows_text(self, value: str) -> bool:
        least, most = _number(self.schema, "minLength"), _number(self.schema, "maxLength")
        if (least is not None and len(value) < least) or (most is not None and len(value) > most):
            return False
        form = self.schema.get("format")
        if isinstance(form, str) and form in _FORMS and not _FORMS[form].fullmatch(value[:500]):
            return False
        pattern = self.schema.get("pattern")
        if not isinstance(pattern, str) or not _harmless(pattern) or len(value) > 200:
            return True
        try:
            return re.search(pattern, value) is not None
        except re.error:
            return True


def is_short_scale(one: Parameter) -> bool:
    """Whether a number is one of a few steps, such as a priority from 1 to 5."""
    most = one.schema.get("maximum")
    short = isinstance(most, int) and most <= SHORT_SCALE and "minimum" in one.schema
    return one.type is Type.INTEGER and not one.is_id and short


def parameters(schema: Any, depth: int = 0) -> tuple[Parameter, ...]:
    """The parameters of a schema, in its order."""
    schema = _mapping(schema)
    properties = _mapping(schema.get("properties"))
    listed = schema.get("required")
    required = (
        {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    )
    shared = {key: _mapping(schema.get(key)) for key in ("$defs", "definitions")}
    return tuple(
        _parameter(str(name), _resolved(about, shared), name in required, depth)
        for name, about in list(properties.items())[:MOST_PARAMETERS]
    )


def _parameter(name: str, schema: Mapping[str, Any], required: bool, depth: int) -> Parameter:
    description = schema.get("description")
    description = description[:LONGEST_TEXT] if isinstance(description, str) else ""
    words = tuple(stem(part) for part in name_parts(name))
    choices = _choices(schema) or _choices(_mapping(schema.get("items")))
    kind = _type(schema, words, description)
    inner = parameters(schema, depth + 1) if kind is Type.OBJECT and depth < 2 else ()
    return Parameter(
        name=name,
        type=kind,
        required=required,
        words=words,
        about=frozenset(stems(description)),
        description=description,
        schema=schema,
        choices=choices,
        inner=inner,
    )


_PLAIN: Final = {
    "integer": Type.INTEGER,
    "number": Type.NUMBER,
    "boolean": Type.BOOLEAN,
    "object": Type.OBJECT,
}


def _type(schema: Mapping[str, Any], words: tuple[str, ...], description: str) -> Type:
    if _choices(schema):
        return Type.CHOICE
    name = _type_name(schema)
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "array":
        items = _mapping(schema.get("items"))
        if _choices(items):
            return Type.CHOICES
        return Type.TEXTS if _type_name(items) in ("string", "") else Type.OTHER
    if name != "string":
        return Type.OTHER
    dated = schema.get("format") == "date" or "YYYY-MM-DD" in description
    return Type.DATE if dated or (words and words[-1] in _DATE_WORDS) else Type.TEXT


def _type_name(schema: Mapping[str, Any]) -> str:
    given = schema.get("type")
    names = given if isinstance(given, list) else [given]
    return next((name for name in names if isinstance(name, str) and name != "null"), "")


def _resolved(schema: Any, shared: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The schema itself: references inside the document followed, the first of alternatives taken."""
    found = dict(_mapping(schema))
    for _ in range(3):
        reference = found.get("$ref")
        if isinstance(reference, str):
            place, _, name = reference.removeprefix("#/").partition("/")
            found = {**_mapping(shared.get(place, {}).get(name)), **_rest(found, "$ref")}
        for key in ("anyOf", "oneOf", "allOf"):
            ways = [_mapping(one) for one in _sequence(found.get(key))]
            fitting = [one for one in ways if one and one.get("type") != "null"]
            if fitting:
                found = {**fitting[0], **_rest(found, key)}
    return found


def _rest(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _choices(schema: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(one for one in _sequence(schema.get("enum"))[:100] if isinstance(one, str))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _number(schema: Mapping[str, Any], key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _harmless(pattern: str) -> bool:
    repeats = len(_REPEATS.findall(pattern))
    return len(pattern) < 200 and not _INVOLVED.search(pattern) and repeats <= MOST_REPEATS
