"""What there is to say of a schema, each thing with the path to it.

Faults are those for which saving refuses a schema, in words that say what to do; hints are about schemas
that are taken, but perhaps not meant so.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, Final

import jsonschema_rs

from tools.schemas.accepted import DEEPEST_DEFINITION, Validator, is_modern
from tools.schemas.syntax import Path
from tools.schemas.wording import describe, shown

# Nobody mends more of them at once.
MOST: Final = 50
TYPES: Final = ("string", "integer", "number", "boolean", "object", "array", "null")
META: Final = {
    False: "http://json-schema.org/draft-07/schema#",
    True: "https://json-schema.org/draft/2020-12/schema",
}
KEYWORDS: Final = (
    *("$anchor", "$comment", "$defs", "$id", "$ref", "$schema", "additionalItems"),
    *("additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding"),
    *("contentMediaType", "default", "definitions", "dependencies", "dependentRequired"),
    *("dependentSchemas", "deprecated", "description", "else", "enum", "examples"),
    *("exclusiveMaximum", "exclusiveMinimum", "format", "if", "items", "maxContains", "maxItems"),
    *("maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength"),
    *("minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern", "patternProperties"),
    *("prefixItems", "properties", "propertyNames", "readOnly", "required", "then", "title"),
    *("type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly"),
)
# What holds schemas under names of its own, in a list, and as they are.
_NAMED: Final = ("properties", "definitions", "$defs", "patternProperties", "dependentSchemas")
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
_SINGLE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say. `on_name` points at the name of the value that `path` leads to."""

    message: str
    path: Path = ()
    on_name: bool = False
    grave: bool = True


def definition_faults(schema: Mapping[str, Any]) -> list[Finding]:
    """Why `schema` cannot be compiled, as far as that has a place."""
    found = dict.fromkeys(islice(_meta_faults(schema), MOST))
    return list(found or dict.fromkeys(islice(_reference_faults(schema), MOST)))


def hints(schema: Any) -> list[Finding]:
    """What may not be meant as it is written."""
    found = (
        one
        for path, part in subschemas(schema)
        for look in (_flags, _unlisted, _names, _unknown)
        for one in look(path, part)
    )
    return list(islice(found, MOST))


def subschemas(schema: Any, path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """`schema` and every schema in it, with the way there."""
    if not isinstance(schema, Mapping) or len(path) > 2 * DEEPEST_DEFINITION:
        return
    yield path, schema
    for word in _NAMED:
        group = schema.get(word)
        for name, inner in group.items() if isinstance(group, Mapping) else ():
            yield from subschemas(inner, (*path, word, name))
    for word in _LISTED:
        several = schema.get(word)
        for number, inner in enumerate(several) if isinstance(several, list) else ():
            yield from subschemas(inner, (*path, word, number))
    for word in _SINGLE:
        yield from subschemas(schema.get(word), (*path, word))


@cache
def _meta(modern: bool) -> Validator:
    kind: Any = jsonschema_rs.Draft202012Validator if modern else jsonschema_rs.Draft7Validator
    made: Validator = kind({"$ref": META[modern]}, validate_formats=True)
    return made


def _meta_faults(schema: Mapping[str, Any]) -> Iterator[Finding]:
    try:
        for error in _meta(is_modern(schema)).iter_errors(dict(schema)):
            yield _meta_fault(_innermost(error))
    except ValueError:
        # The library has no words for it: half a character, deep nesting.
        return


def _innermost(error: Any) -> Any:
    """Of a choice that nothing fits, the fault that was reached last: that was what was meant."""
    if error.kind.name not in {"anyOf", "oneOf"}:
        return error
    deeper = [one for branch in error.kind.value for one in branch]
    best = max(deeper, key=lambda one: len(one.instance_path), default=error)
    return _innermost(best) if len(best.instance_path) > len(error.instance_path) else error


def _meta_fault(error: Any) -> Finding:
    path = tuple(error.instance_path)
    words = [one for one in path if isinstance(one, str)]
    word = words[-1] if words else "The schema"
    if word == "type" and isinstance(error.instance, str):
        near = get_close_matches(error.instance.lower(), TYPES, 1, 0.5)
        meant = f" Did you mean {near[0]}?" if near else ""
        told = f'"{shown(error.instance)}" is no type: use one of {", ".join(TYPES)}.{meant}'
    elif word == "required":
        told = '"required" must be a list of names, such as ["query"].'
    elif error.kind.name == "format" and error.kind.value == "regex":
        told = f'"{word}" is not a regular expression that can be used.'
    else:
        told = f'"{word}" must be {describe(error).expected}.'
    return Finding(told, path)


def _reference_faults(schema: Mapping[str, Any]) -> Iterator[Finding]:
    for path, part in subschemas(schema):
        reference = part.get("$ref")
        if not isinstance(reference, str):
            continue
        place = (*path, "$ref")
        if not reference.startswith("#"):
            told = (
                f'"{shown(reference)}" would have to be fetched, and nothing is. Copy what it '
                'refers to under "definitions" and write "#/definitions/NAME".'
            )
            yield Finding(told, place)
        elif reference.startswith("#/") and not _exists(schema, reference):
            yield Finding(f'"{shown(reference)}" leads nowhere in this schema.', place)


def _exists(schema: Any, reference: str) -> bool:
    for part in reference.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping) and name in schema:
            schema = schema[name]
        elif isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return False
    return True


def _properties(part: Mapping[str, Any]) -> Mapping[str, Any]:
    found = part.get("properties")
    return found if isinstance(found, Mapping) else {}


def _flags(path: Path, part: Mapping[str, Any]) -> Iterator[Finding]:
    for name, inner in _properties(part).items():
        if isinstance(inner, Mapping) and isinstance(inner.get("required"), bool):
            moved = 'moved to the list "required" around it' if inner["required"] else "taken out"
            place = (*path, "properties", name, "required")
            yield Finding(f"This is {moved} when you save.", place, on_name=True, grave=False)


def _unlisted(path: Path, part: Mapping[str, Any]) -> Iterator[Finding]:
    listed = part.get("required")
    if "properties" not in part or not isinstance(listed, list):
        return
    for number, name in enumerate(listed):
        if isinstance(name, str) and name not in _properties(part):
            told = f'"{shown(name)}" is required, but not among the properties.'
            yield Finding(told, (*path, "required", number), grave=False)


def _names(path: Path, part: Mapping[str, Any]) -> Iterator[Finding]:
    for name in _properties(part):
        if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
            told = (
                f'"{shown(name)}" is no identifier: Python clients cannot pass it by name. '
                "Letters, digits and _ are safe."
            )
            yield Finding(told, (*path, "properties", name), on_name=True, grave=False)


def _unknown(path: Path, part: Mapping[str, Any]) -> Iterator[Finding]:
    for word in part:
        if word in KEYWORDS or not re.fullmatch(r"[$A-Za-z]{3,40}", word):
            continue
        if near := get_close_matches(word, KEYWORDS, 1, 0.8):
            told = f'"{word}" means nothing and is ignored. Did you mean "{near[0]}"?'
            yield Finding(told, (*path, word), on_name=True, grave=False)
