"""One schema of a document as JSON Schema 2020-12, its references as names of definitions.

Dialects are brought together: `nullable`, boolean bounds, `example`, lists as `items`, types that are
none. Keywords that say nothing about values (`xml`, `discriminator`, `x-…`) are left out. A default
is told in the description: the API fills in its own, and sending it would change what a partial
update or a pair of exclusive arguments means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import orjson

from tools.openapi.faults import Unservable
from tools.openapi.keywords import MISNAMED, PLAIN, TYPES, UNIMPORTANT, Wrong, pattern
from tools.openapi.walking import DEFINITIONS, LISTED, NAMED, ONE

LONGEST_DEFAULT: Final = 80

Schema = Mapping[str, Any]


class Direction(StrEnum):
    """Who sends the value: some properties only travel one way."""

    REQUEST = "readOnly"
    RESPONSE = "writeOnly"


@dataclass(slots=True)
class Cleaner:
    """Cleans schemas of one document.

    `name_of` gives the name of the definition that a `$ref` leads to, `hidden` whether a property
    does not travel this way. What had to be left out is told in `notes`.
    """

    name_of: Callable[[Any], str]
    hidden: Callable[[Any], bool]
    notes: dict[str, None] = field(default_factory=dict)

    def clean(self, schema: Any) -> Any:
        """`schema` in the one dialect. Booleans are schemas too; what is none accepts everything."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            self._note("A schema is not an object and accepts everything.")
            return {}
        result: dict[str, Any] = {}
        if "$ref" in schema:
            result["$ref"] = DEFINITIONS + self.name_of(schema["$ref"])
        if "$dynamicRef" in schema:
            raise Unservable("It uses $dynamicRef, which is not followed. Use $ref.")
        self._types(schema, result)
        self._plain(schema, result)
        self._inner(schema, result)
        _bounds(schema, result)
        _tell_default(schema, result)
        _texts_in_enum(result)
        return _nullable(schema, result)

    def _note(self, text: str) -> None:
        self.notes[text] = None

    def _types(self, schema: Schema, result: dict[str, Any]) -> None:
        stated = schema.get("type")
        if stated is None:
            return
        names: dict[str, None] = {}
        for one in stated if isinstance(stated, list) else [stated]:
            name, form = MISNAMED.get(one, (one, "")) if isinstance(one, str) else ("", "")
            if form:
                result["format"] = form
            if name not in TYPES:
                if name != "any":
                    self._note(f"The type {str(one)[:40]!r} is not known and was left out.")
                return
            names[name] = None
        if names:
            result["type"] = next(iter(names)) if len(names) == 1 else list(names)

    def _plain(self, schema: Schema, result: dict[str, Any]) -> None:
        for key, check in PLAIN.items():
            if key not in schema or (key == "required" and isinstance(schema[key], bool)):
                continue
            if key.startswith("exclusive") and isinstance(schema[key], bool):
                continue
            try:
                result[key] = check(schema[key])
            except Wrong:
                if key not in UNIMPORTANT:
                    self._note(f"A {key} that cannot be used was left out.")
        if "example" in schema and "examples" not in result:
            try:
                result["examples"] = PLAIN["examples"]([schema["example"]])
            except Wrong:
                return

    def _inner(self, schema: Schema, result: dict[str, Any]) -> None:
        for key in ONE:
            if key in schema and not (key == "items" and isinstance(schema[key], list)):
                result[key] = self.clean(schema[key])
        if isinstance(schema.get("items"), list) and schema["items"]:
            result["prefixItems"] = [self.clean(item) for item in schema["items"]]
        for key in LISTED:
            if isinstance(schema.get(key), list) and schema[key]:
                result[key] = [self.clean(item) for item in schema[key]]
            elif key in schema:
                self._note(f"A {key} that cannot be used was left out.")
        for key in NAMED:
            if isinstance(schema.get(key), dict):
                self._named(key, schema[key], result)

    def _named(self, key: str, schemas: Schema, result: dict[str, Any]) -> None:
        if key == "properties":
            self._properties(schemas, result)
            return
        kept: dict[str, Any] = {}
        for name, schema in schemas.items():
            try:
                kept[pattern(name) if key == "patternProperties" else name] = self.clean(schema)
            except Wrong:
                self._note(f"A {key} that cannot be used was left out.")
        result[key] = kept

    def _properties(self, properties: Schema, result: dict[str, Any]) -> None:
        gone = {name for name, schema in properties.items() if self.hidden(schema)}
        marked = [
            name
            for name, schema in properties.items()
            if isinstance(schema, dict) and schema.get("required") is True
        ]
        result["properties"] = {
            name: self.clean(schema) for name, schema in properties.items() if name not in gone
        }
        required = dict.fromkeys([*result.get("required", []), *marked])
        listed = [name for name in required if name not in gone]
        if listed:
            result["required"] = listed
        else:
            result.pop("required", None)


def _bounds(schema: Schema, result: dict[str, Any]) -> None:
    """`exclusiveMinimum: true` of OpenAPI 3.0 makes the minimum itself exclusive."""
    for bound in ("minimum", "maximum"):
        exclusive = "exclusive" + bound.capitalize()
        if schema.get(exclusive) is True and bound in result:
            result[exclusive] = result.pop(bound)


def _tell_default(schema: Schema, result: dict[str, Any]) -> None:
    default = schema.get("default")
    if default is None or default in ("", [], {}):
        return
    written = orjson.dumps(default).decode()
    told = f"Default: {default if isinstance(default, str) else written}"
    known = str(result.get("description", ""))
    if len(told) <= LONGEST_DEFAULT and "default" not in known.lower():
        result["description"] = f"{known} {told}".strip()


def _texts_in_enum(result: dict[str, Any]) -> None:
    """Texts that YAML took for numbers are texts again, or no value would fit."""
    if result.get("type") == "string" and "enum" in result:
        result["enum"] = [
            str(item) if isinstance(item, (int, float)) and not isinstance(item, bool) else item
            for item in result["enum"]
        ]


def _nullable(schema: Schema, result: dict[str, Any]) -> dict[str, Any]:
    if schema.get("nullable") is not True and schema.get("x-nullable") is not True:
        return result
    if "enum" in result and None not in result["enum"]:
        result["enum"] = [*result["enum"], None]
    stated = result.get("type")
    if stated is not None and not any(key in result for key in ("allOf", "anyOf", "oneOf", "$ref")):
        names = stated if isinstance(stated, list) else [stated]
        result["type"] = list(dict.fromkeys([*names, "null"]))
        return result
    description = {"description": result.pop("description")} if "description" in result else {}
    return {**description, "anyOf": [result, {"type": "null"}]} if result else description
